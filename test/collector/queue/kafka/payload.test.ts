import { expect, test } from 'vitest'
import { decodePayload, encodeRows } from '../../../../collector/queue/kafka/payload.ts'
import { spanId, spanRow, traceId } from '../../../support/span-rows.ts'

function versions() {
  let version = 1_764_600_000_000_000n
  return () => (version += 1n)
}

test('rows come back as they were, each with its own version', () => {
  const rows = [
    spanRow({
      startTimeUnixNano: 2n ** 63n - 1n,
      inputTokens: 3,
      firstChunkMs: 1.5,
      tags: { a: 'b' },
      requestBody: '{"q":"\u0000\\u0000 “"}',
    }),
    spanRow({ spanId: spanId(2), repeat: -1 }),
  ]
  const [only, ...others] = encodeRows('spans', rows, 1_000_000, versions())
  expect(others).toEqual([])
  expect(decodePayload(only?.value ?? Buffer.alloc(0))).toEqual({
    format: 1,
    kind: 'spans',
    rows: rows.map((row, n) => ({ ...row, receivedAt: 1_764_600_000_000_001n + BigInt(n) })),
  })
})

test('a tag may be called as a member of every object is', () => {
  const tags: Record<string, string> = JSON.parse('{"__proto__":"x","constructor":"y"}')
  const [value] = encodeRows('spans', [spanRow({ tags, attributes: tags })], 1_000_000, versions())
  const [row] = decodePayload(value?.value ?? Buffer.alloc(0)).rows
  expect(row !== undefined && 'tags' in row && [Object.entries(row.tags), Object.entries(row.attributes)]).toEqual([
    [
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ],
    [
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ],
  ])
})

test('rows of a trace share values, in order, within the limit; a row over it has one to itself', () => {
  const rows = [1, 2, 3, 4, 5].map((n) =>
    spanRow({ traceId: traceId(n % 2), spanId: spanId(n), requestBody: 'x'.repeat(n === 4 ? 9_000 : 100) }),
  )
  const values = encodeRows('spans', rows, 3_000, versions())
  const found = values.map(({ key, value }) => ({
    key,
    spans: decodePayload(value).rows.map((row) => ('spanId' in row ? Number(row.spanId) : 0)),
    fits: value.length <= 3_000,
  }))
  expect(found.filter(({ key }) => key === traceId(1)).flatMap(({ spans }) => spans)).toEqual([1, 3, 5])
  expect(found.filter(({ fits }) => !fits)).toEqual([{ key: traceId(0), spans: [4], fits: false }])
  expect(found).toHaveLength(3)
})

test('a row that has a version keeps it', () => {
  const [value] = encodeRows('spans', [spanRow({}), { ...spanRow({}), receivedAt: 7n }], 100_000, () => 9n)
  expect(decodePayload(value?.value ?? Buffer.alloc(0)).rows.map(({ receivedAt }) => receivedAt)).toEqual([9n, 7n])
})

test('says what is wrong with a value, and nothing of its content', () => {
  const reason = (text: string) => {
    try {
      decodePayload(Buffer.from(text))
    } catch (error) {
      return error instanceof Error ? error.message : ''
    }
    return 'read'
  }
  expect(reason('{')).toBe('the value is no JSON')
  expect(reason(JSON.stringify({ format: 1, kind: 'spans', rows: [{ tags: { a: 1 } }] }))).toContain('the value holds no rows')
  expect(reason('{"format":2,"kind":"spans","rows":[]}')).toBe('the value has format 2, of a newer Homeground')
  expect(reason('{"format":1,"kind":"spans","rows":[{"receivedAt":"1","project":7,"secret":"SECRET"}]}')).toMatch(
    /^the value holds no rows: rows\.0\.project: /,
  )
  expect(reason('{"format":1,"kind":"spans","rows":[{"receivedAt":"1","project":7,"secret":"SECRET"}]}')).not.toContain('SECRET')
})
