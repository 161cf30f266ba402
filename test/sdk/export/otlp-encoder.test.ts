import type { SpanRecord } from '@homeground/sdk/trace'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeProtobufTraces } from '../../../collector/ingest/traces-protobuf.ts'
import { encodeHead, encodeSpan } from '../../../sdk/export/otlp-encoder.ts'

const plain: SpanRecord = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  parentSpanId: '00f067aa0ba902b7',
  name: 'chat gpt-4o',
  kind: 3,
  startTimeUnixNano: 1764600000123456789n,
  endTimeUnixNano: 1764600001123456789n,
  attributes: {},
  status: { code: 0 },
  events: [],
  resource: { 'service.name': 'shop', 'homeground.project': 'shop' },
  scope: { name: '@homeground/sdk', version: '0.1.0' },
}

const decode = (spans: readonly SpanRecord[]) => {
  const pieces = spans.map(encodeSpan)
  const size = pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
  return decodeProtobufTraces(Buffer.concat([encodeHead(plain.resource, plain.scope, size), ...pieces])).spans
}

describe('encodeSpan', () => {
  it('writes what a collector reads back: every field and kind of value', () => {
    const span: SpanRecord = {
      ...plain,
      attributes: {
        text: 'a€😀\u0000',
        empty: '',
        yes: true,
        no: false,
        zero: 0,
        large: 2 ** 53 - 1,
        negative: -7,
        half: 0.5,
        beyond: 2n ** 62n,
        list: ['a', 1, ['b']],
        map: { inner: { deep: 'x' } },
        bytes: new Uint8Array([0, 1, 255]),
      },
      status: { code: 2, message: 'it failed' },
      events: [{ timeUnixNano: 1764600000500000000n, name: 'exception', attributes: { 'exception.type': 'RangeError' } }],
    }
    expect(decode([plain, span, { ...plain, attributes: { long: 'x'.repeat(300_000) } }])).toEqual([
      plain,
      span,
      { ...plain, attributes: { long: 'x'.repeat(300_000) } },
    ])
  })

  it('writes a root without a parent, and a lone surrogate as U+FFFD', () => {
    const { parentSpanId: _, ...root } = plain
    expect(decode([{ ...root, attributes: { lone: 'a\ud83d' } }])).toEqual([{ ...root, attributes: { lone: 'a\ufffd' } }])
  })

  it('holds for any attributes', () => {
    const value = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.boolean(),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true }).filter((x) => !Number.isInteger(x)),
      fc.array(fc.string()),
    )
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z.]{1,20}$/), value), (attributes) => {
        expect(decode([{ ...plain, attributes }])[0]?.attributes).toEqual({ ...attributes })
      }),
    )
  })
})
