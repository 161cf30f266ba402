import { describe, expect, test } from 'vitest'
import { decodeJsonLogs } from '../../../collector/ingest/logs.ts'

const trace = '0af7651916cd43dd8448eb211c80319c'
const record = (more: object) => ({
  timeUnixNano: '1764547200000000000',
  eventName: 'gen_ai.user.message',
  traceId: trace,
  spanId: 'b7ad6b7169203331',
  body: { kvlistValue: { values: [{ key: 'content', value: { stringValue: 'Hi' } }] } },
  ...more,
})
const decoded = (...logRecords: object[]) =>
  decodeJsonLogs(
    JSON.stringify({
      resourceLogs: [
        { resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] }, scopeLogs: [{ scope: {}, logRecords }] },
      ],
    }),
  )

describe('log records of messages', () => {
  test('become rows under their call, in their order though they bear one time, the same ones when they are sent again', () => {
    const { rows, rejected } = decoded(record({}), record({}), record({ eventName: 'gen_ai.choice' }))
    expect(rows.map(({ project, kind, name, parentSpanId, requestBody }) => [project, kind, name, parentSpanId, requestBody])).toEqual([
      ['shop', 'other', 'gen_ai.user.message', 'b7ad6b7169203331', '{"content":"Hi"}'],
      ['shop', 'other', 'gen_ai.user.message', 'b7ad6b7169203331', '{"content":"Hi"}'],
      ['shop', 'other', 'gen_ai.choice', 'b7ad6b7169203331', '{"content":"Hi"}'],
    ])
    const ids = rows.map(({ spanId }) => spanId)
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(3)
    expect(decoded(record({}), record({}), record({ eventName: 'gen_ai.choice' })).rows).toEqual(rows)
    expect(rejected).toEqual([])
  })

  test('are refused one by one without the ids of their call; other records are let go', () => {
    const { rows, rejected } = decoded(
      record({ spanId: '' }),
      record({ traceId: '0'.repeat(32) }),
      record({ eventName: 'checkout.paid' }),
      record({ eventName: '' }),
      record({}),
    )
    expect(rows).toHaveLength(1)
    expect(rejected).toEqual([1, 2].map(() => ({ reason: 'gen_ai.user.message needs the trace id and the span id of its call' })))
  })

  test('may hold __proto__ and lone surrogates', () => {
    const values = [
      { key: '__proto__', value: { stringValue: 'x' } },
      { key: 'content', value: { stringValue: '\ud800' } },
    ]
    const { rows } = decoded(record({ body: { kvlistValue: { values } } }))
    expect(rows[0]?.requestBody).toBe('{"__proto__":"x","content":"\ufffd"}')
  })
})
