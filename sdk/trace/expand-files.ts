// Files that an earlier call of the run has recorded stand in a later request as their digest: `data:image/png;bytes=70000;sha256=…` for a data URL,
// `bytes=…;sha256=…` for bare base64. Here they are put back, from whichever row has them; a digest that no row can tell stays.
import { createHash } from 'node:crypto'
import type { SpanRow } from './row.ts'

const reference = /bytes=\d+;sha256=([0-9a-f]{64})/g
/** What a digest was made of: texts of 4,096 characters and more, the head of a data URL among them. */
const encoded = /"(?:data:[^"\\,]{0,100};base64,)?([A-Za-z0-9+/_-]{3900,}={0,2})"/g

/** Characters that files are put back with in one trace. A request may name one file any number of times: what goes beyond stays a digest. */
const mostExpanded = 256 * 1024 * 1024

/** Rows of one trace; those without digests come back as they are. `room`: characters, of all rows together. */
export function expandFiles(rows: readonly SpanRow[], room = mostExpanded): readonly SpanRow[] {
  const missing = new Set<string>()
  for (const { requestBody } of rows)
    if (requestBody.includes(';sha256=')) for (const [, digest = ''] of requestBody.matchAll(reference)) missing.add(digest)
  if (missing.size === 0) return rows
  const files = new Map<string, string>()
  for (const { requestBody } of rows) {
    if (files.size === missing.size) break
    for (const [, content = ''] of requestBody.matchAll(encoded)) {
      const digest = createHash('sha256').update(Buffer.from(content, 'base64')).digest('hex')
      if (missing.has(digest)) files.set(digest, content)
    }
  }
  let left = room
  return rows.map((row) => {
    const requestBody = row.requestBody.replace(
      /(data:[^"\\,]{0,100};)?bytes=\d+;sha256=([0-9a-f]{64})/g,
      (whole, head: string | undefined, digest: string) => {
        const content = files.get(digest)
        if (content === undefined || content.length > left) return whole
        left -= content.length
        return head === undefined ? content : `${head}base64,${content}`
      },
    )
    return requestBody === row.requestBody ? row : { ...row, requestBody }
  })
}
