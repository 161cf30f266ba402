// Decides over one span at a time: usable, or refused with a reason. What can be mended is mended by the normaliser, which flags it.
import type { DecodedSpans, UncheckedSpan } from './types.ts'

const traceIdPattern = /^(?!0{32})[0-9a-f]{32}$/
const spanIdPattern = /^(?!0{16})[0-9a-f]{16}$/
/** A project's name in UTF-16 units: it stands in every row and in every list. */
export const longestProject = 200
/** Attribute values nested deeper than this are refused: each level is a call of ours. */
export const deepestAttribute = 64

/** The bytes are sound, but what they say cannot be kept: one span is refused, not the request. */
export class TooDeep extends Error {
  constructor() {
    super(`attribute values are nested more than ${deepestAttribute} deep`)
  }
}

/** The last instant that the store's nanosecond clock can say: 2262-04-11. */
const lastNanosecond = 2n ** 63n - 1n

/** Adds the span to the good ones or its reason to the refused. */
export function sortSpan(span: UncheckedSpan, into: DecodedSpans): void {
  const reason = faultOf(span)
  if (reason !== undefined) {
    into.rejected.push({ reason })
    return
  }
  const { parentSpanId, ...rest } = span
  // A parent that cannot be an id names no span: the span is kept, as a root.
  into.spans.push(spanIdPattern.test(parentSpanId) ? { ...rest, parentSpanId } : rest)
}

function faultOf(span: UncheckedSpan): string | undefined {
  if (!traceIdPattern.test(span.traceId)) return 'trace id is not 16 bytes other than zero'
  if (!spanIdPattern.test(span.spanId)) return 'span id is not 8 bytes other than zero'
  if (span.startTimeUnixNano < 0n || span.startTimeUnixNano > lastNanosecond) return 'start time is out of range'
  if (span.endTimeUnixNano < 0n || span.endTimeUnixNano > lastNanosecond) return 'end time is out of range'
  return undefined
}
