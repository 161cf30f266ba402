// AWS's binary event stream (`application/vnd.amazon.eventstream`), in which Bedrock answers: bytes in, the vendor's own events out. Each message is lengths,
// headers, payload and checksum; a payload's `bytes` is one event in base64. Checksums are not checked: the client that reads the stream does that.
import { asObject, asText, parseJson } from '../json.ts'

/** Before the headers: length of all, length of the headers, checksum. Behind the payload: a checksum. */
const preludeBytes = 12
const checksumBytes = 4

/** Calls `event` for each event, in order; an exception of AWS's comes as the vendor's `error` event. Ends where the bytes break off, or are something else. */
export function readAmazonEvents(bytes: Buffer, event: (data: string, name: string | undefined) => void): void {
  for (let at = 0; at + preludeBytes + checksumBytes <= bytes.byteLength; ) {
    const end = at + bytes.readUInt32BE(at)
    const payloadAt = at + preludeBytes + bytes.readUInt32BE(at + 4)
    if (end > bytes.byteLength || payloadAt > end - checksumBytes) return
    const headers = textHeaders(bytes.subarray(at + preludeBytes, payloadAt))
    const payload = asObject(parseJson(bytes.toString('utf8', payloadAt, end - checksumBytes)))
    const inner = asText(payload?.['bytes'])
    if (headers.get(':message-type') !== 'event') {
      const type = headers.get(':exception-type') ?? headers.get(':error-code') ?? 'error'
      const message = asText(payload?.['message']) ?? headers.get(':error-message') ?? ''
      event(JSON.stringify({ type: 'error', error: { type, message } }), 'error')
    } else if (inner !== undefined) event(Buffer.from(inner, 'base64').toString('utf8'), undefined)
    at = end
  }
}

/** Headers that are text; Bedrock has no others, so that one of another kind ends the search. */
function textHeaders(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>()
  for (let at = 0; at < bytes.byteLength; ) {
    const valueAt = at + 1 + (bytes[at] ?? 0)
    if (bytes[valueAt] !== 7 || valueAt + 3 > bytes.byteLength) break
    const end = valueAt + 3 + bytes.readUInt16BE(valueAt + 1)
    headers.set(bytes.toString('utf8', at + 1, valueAt), bytes.toString('utf8', valueAt + 3, end))
    at = end
  }
  return headers
}
