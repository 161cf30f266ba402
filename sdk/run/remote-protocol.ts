// What a product in a process of its own and the replay say to each other over HTTP. Both ends are in this package; the version must be equal.
import type { SpanRecord } from '../trace/span.ts'

/** Sent by the product, answered by the replay when both speak it. */
export const remoteVersion = 1

export const remoteVariables = { url: 'HOMEGROUND_REPLAY_URL', key: 'HOMEGROUND_REPLAY_KEY' } as const

/** A header of a response to `/model`: the seam's own response, not one of the transport. */
export const modelHeader = 'x-homeground-model'

/** An error as it crosses over. */
export interface RemoteError {
  name: string
  message: string
  code?: string
  hint?: string
}

/** Bigints as text, bytes as base64. */
export function spanToJson(span: SpanRecord): string {
  return JSON.stringify(span, (_, value: unknown) => {
    if (typeof value === 'bigint') return { $bigint: value.toString() }
    return value instanceof Uint8Array ? { $bytes: Buffer.from(value).toString('base64') } : value
  })
}

export function spanFromJson(text: string): SpanRecord {
  const span: SpanRecord = JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value
    if ('$bigint' in value && typeof value.$bigint === 'string') return BigInt(value.$bigint)
    return '$bytes' in value && typeof value.$bytes === 'string' ? new Uint8Array(Buffer.from(value.$bytes, 'base64')) : value
  })
  return span
}
