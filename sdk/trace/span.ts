// A span as it comes off the wire, before anyone asks what it means. OTLP decoders (collector) and the SDK's memory exporter both give this.

/** A value of an attribute, as OTLP's AnyValue has it. */
export type AttributeValue = string | number | bigint | boolean | Uint8Array | AttributeValue[] | { [key: string]: AttributeValue } | null
/** Attributes by name. */
export type Attributes = Record<string, AttributeValue>

/** One finished span. */
export interface SpanRecord {
  /** 32 hex. */
  traceId: string
  /** 16 hex. */
  spanId: string
  /** 16 hex; absent for a root. */
  parentSpanId?: string
  name: string
  /** OTLP's SpanKind number. */
  kind: number
  startTimeUnixNano: bigint
  endTimeUnixNano: bigint
  attributes: Attributes
  /** OTLP status code: 0 unset, 1 ok, 2 error. */
  status: { code: 0 | 1 | 2; message?: string }
  events: { name: string; timeUnixNano: bigint; attributes: Attributes }[]
  resource: Attributes
  scope: { name: string; version?: string }
}
