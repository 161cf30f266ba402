// OTLP bodies for tests, made by hand from plain objects, so that what is sent is no work of the code under test.
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

export interface PlainSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name?: string
  start?: bigint
  end?: bigint
  attributes?: Record<string, string | number | boolean>
}

/** 2025-12-01T14:40:00Z in nanoseconds. */
export const epoch = 1_764_600_000_000_000_000n

/** An ExportTraceServiceRequest of one resource and scope, in protobuf. */
export function protobufTraces(spans: readonly PlainSpan[], resource: Record<string, string> = { 'service.name': 'shop' }): Buffer {
  const message = (field: number, bytes: Uint8Array, to = new BinaryWriter()) => to.tag(field, WireType.LengthDelimited).bytes(bytes)
  const attributes = (values: Record<string, string | number | boolean>, field: number, to: BinaryWriter) => {
    for (const [key, value] of Object.entries(values)) {
      const any = new BinaryWriter()
      if (typeof value === 'string') any.tag(1, WireType.LengthDelimited).string(value)
      else if (typeof value === 'boolean') any.tag(2, WireType.Varint).bool(value)
      else if (Number.isInteger(value)) any.tag(3, WireType.Varint).int64(value)
      else any.tag(4, WireType.Bit64).double(value)
      const pair = new BinaryWriter().tag(1, WireType.LengthDelimited).string(key)
      message(field, message(2, any.finish(), pair).finish(), to)
    }
    return to
  }
  const scopeSpans = message(1, new BinaryWriter().tag(1, WireType.LengthDelimited).string('test').finish())
  for (const {
    traceId,
    spanId,
    parentSpanId,
    name = 'chat gpt-4o',
    start = epoch,
    end = start + 1_000_000n,
    attributes: given = {},
  } of spans) {
    const span = new BinaryWriter()
    message(1, Buffer.from(traceId, 'hex'), span)
    message(2, Buffer.from(spanId, 'hex'), span)
    if (parentSpanId !== undefined) message(4, Buffer.from(parentSpanId, 'hex'), span)
    span.tag(5, WireType.LengthDelimited).string(name).tag(6, WireType.Varint).int32(3)
    span.tag(7, WireType.Bit64).fixed64(start).tag(8, WireType.Bit64).fixed64(end)
    attributes(given, 9, span)
    message(2, span.finish(), scopeSpans)
  }
  const resourceSpans = message(1, attributes(resource, 1, new BinaryWriter()).finish())
  return Buffer.from(message(1, message(2, scopeSpans.finish(), resourceSpans).finish()).finish())
}

/** Sends it; the answer's status, Retry-After and body. */
export async function postTraces(
  url: string,
  body: Uint8Array,
  headers: Record<string, string> = {},
): Promise<{ status: number; retryAfter: string | null; body: Buffer }> {
  const response = await fetch(`${url}/v1/traces`, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: { 'content-type': 'application/x-protobuf', ...headers },
  })
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body: Buffer.from(await response.arrayBuffer()) }
}
