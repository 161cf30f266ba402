// Keeps a request's body within bounds: images and files in a large one become their digest, so that the words around them are recorded still.
import { rewriteJson } from '../privacy/rewrite-json.ts'
import { nodeCrypto } from '../run/late-modules.ts'

/** Bodies up to this many characters are recorded as they were sent. */
const wholeLimit = 1024 * 1024
/** In a larger one, what is encoded and longer than this becomes its digest. */
const encodedLimit = 64 * 1024

/** The body to record; `undefined` where it is too large without its files too. */
export function boundedBody(text: string, maxBytes: number): string | undefined {
  const kept =
    text.length <= wholeLimit
      ? text
      : rewriteJson(text, '', true, { text: (part) => (part.length <= encodedLimit ? part : digested(part)) })
  return Buffer.byteLength(kept) <= maxBytes ? kept : undefined
}

/** `data:image/png;bytes=70000;sha256=…` for a data URL, `bytes=…;sha256=…` for bare base64; other text as it is. */
function digested(text: string): string {
  const [head = ''] = /^data:[^;,]{0,100};base64,/.exec(text) ?? []
  const encoded = text.slice(head.length)
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded)) return text
  const bytes = Buffer.from(encoded, 'base64')
  const digest = `bytes=${bytes.byteLength};sha256=${nodeCrypto().createHash('sha256').update(bytes).digest('hex')}`
  return head === '' ? digest : `${head.slice(0, -'base64,'.length)}${digest}`
}
