// The last change that the settings ask for before a span leaves the process.
import type { Settings } from './settings.ts'
import { homeground as names } from './trace/attributes.ts'
import { messageAttributes } from './trace/message-attributes.ts'
import type { SpanRecord } from './trace/span.ts'

/** `undefined` where nothing is asked for: spans leave as they were recorded. */
export function finishSpan(settings: Pick<Settings, 'emitMessages'>): ((span: SpanRecord) => SpanRecord) | undefined {
  return settings.emitMessages ? withMessages : undefined
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
