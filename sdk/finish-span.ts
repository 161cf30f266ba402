// The last changes that the settings ask for before a span leaves the process: redaction first, then the conventions' messages from what is left.
import type { Redaction } from './privacy/redaction.ts'
import { homeground as names } from './trace/attributes.ts'
import { messageAttributes } from './trace/message-attributes.ts'
import type { SpanRecord } from './trace/span.ts'

/** `undefined` where nothing is asked for: spans leave as they were recorded. */
export function finishSpan(redaction: Redaction | undefined, emitMessages: boolean): ((span: SpanRecord) => SpanRecord) | undefined {
  if (redaction === undefined) return emitMessages ? withMessages : undefined
  return emitMessages ? (span) => withMessages(redaction.span(span)) : (span) => redaction.span(span)
}

function withMessages(span: SpanRecord): SpanRecord {
  const { [names.api]: api, [names.requestBody]: request, [names.responseBody]: response } = span.attributes
  if (typeof api === 'string')
    Object.assign(
      span.attributes,
      messageAttributes(api, typeof request === 'string' ? request : undefined, typeof response === 'string' ? response : undefined),
    )
  return span
}
