// OTLP's ExportTraceServiceRequest in JSON.
import { sortSpan } from './check-span.ts'
import { asObject, attributesOf, field, integer, type JsonObject, jsonId, list, text, walkJsonExport } from './otlp-json.ts'
import type { Surroundings } from './otlp-protobuf.ts'
import type { DecodedSpans, UncheckedSpan } from './types.ts'

/** @throws Error where the text is no JSON object of this shape */
export function decodeJsonTraces(json: string): DecodedSpans {
  const decoded: DecodedSpans = { spans: [], rejected: [] }
  walkJsonExport(json, 'spans', (span, around) => {
    let unchecked: UncheckedSpan
    try {
      unchecked = readSpan(asObject(span), around)
    } catch (error) {
      decoded.rejected.push({ reason: error instanceof Error ? error.message : 'a field has the wrong type' })
      return
    }
    sortSpan(unchecked, decoded)
  })
  return decoded
}

function readSpan(span: JsonObject, { resource, scope }: Surroundings): UncheckedSpan {
  const status = asObject(field(span, 'status') ?? {})
  const code = Number(field(status, 'code') ?? 0)
  const message = text(field(status, 'message'))
  const known = code === 1 || status['code'] === 'STATUS_CODE_OK' ? 1 : code === 2 || status['code'] === 'STATUS_CODE_ERROR' ? 2 : 0
  return {
    traceId: jsonId(field(span, 'traceId'), 16),
    spanId: jsonId(field(span, 'spanId'), 8),
    parentSpanId: jsonId(field(span, 'parentSpanId'), 8),
    name: text(field(span, 'name')),
    kind: Number(field(span, 'kind')) || 0,
    startTimeUnixNano: integer(field(span, 'startTimeUnixNano')),
    endTimeUnixNano: integer(field(span, 'endTimeUnixNano')),
    attributes: attributesOf(list(span, 'attributes')),
    status: message === '' ? { code: known } : { code: known, message },
    events: list(span, 'events').map((event) => ({
      name: text(field(event, 'name')),
      timeUnixNano: integer(field(event, 'timeUnixNano')),
      attributes: attributesOf(list(event, 'attributes')),
    })),
    resource,
    scope,
  }
}
