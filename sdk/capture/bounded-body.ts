// Keeps a body within bounds: images and files in a large one, and those that an earlier call of the run has recorded, become their digest, so that the
// words around them are recorded still.
import { rewriteJson } from '../privacy/rewrite-json.ts'
import { nodeCrypto } from '../run/late-modules.ts'

/** Bodies up to this many characters are recorded with their files. */
const wholeLimit = 1024 * 1024
/** In a larger one, what is encoded and longer than this becomes its digest. */
const encodedLimit = 64 * 1024
/** Of a file that was recorded before, the shortest text that becomes its digest. The reader of episodes puts it back: see sdk/trace/expand-files.ts. */
const repeatedLimit = 4096
/** Files of one run that are known again. */
const maxKnown = 1000

/**
 * The body to record; `undefined` where it is too large without its files too. `known` are digests of the files that the run has recorded; those that this body
 * is recorded with are added.
 */
export function boundedBody(text: string, maxBytes: number, known?: Set<string>): string | undefined {
  const large = text.length > wholeLimit
  const fresh: string[] = []
  // Every wire says somewhere that a text is base64.
  const kept =
    large || (known !== undefined && text.includes('base64'))
      ? rewriteJson(text, '', true, {
          text: (part) =>
            part.length < (large && known === undefined ? encodedLimit : repeatedLimit) ? part : recorded(part, large, known, fresh),
        })
      : text
  // No character has more than three bytes for each of its units.
  if (kept.length * 3 > maxBytes && Buffer.byteLength(kept) > maxBytes) return undefined
  for (const digest of fresh) if (known !== undefined && known.size < maxKnown) known.add(digest)
  return kept
}

/** `data:image/png;bytes=70000;sha256=…` for a data URL, `bytes=…;sha256=…` for bare base64; other text as it is. */
function recorded(text: string, large: boolean, known: ReadonlySet<string> | undefined, fresh: string[]): string {
  const [head = ''] = /^data:[^;,]{0,100};base64,/.exec(text) ?? []
  const encoded = text.slice(head.length)
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded)) return text
  const bytes = Buffer.from(encoded, 'base64')
  const sha256 = nodeCrypto().createHash('sha256').update(bytes).digest('hex')
  if (!(large && text.length > encodedLimit) && !known?.has(sha256)) {
    fresh.push(sha256)
    return text
  }
  const digest = `bytes=${bytes.byteLength};sha256=${sha256}`
  return head === '' ? digest : `${head.slice(0, -'base64,'.length)}${digest}`
}
