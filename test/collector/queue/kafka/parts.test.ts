import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PartJoiner, type PartMessage, splitIntoParts } from '../../../../collector/queue/kafka/parts.ts'

const message = (part: { headers: Record<string, string>; value: Buffer }, offset: number, minutes = 0): PartMessage => ({
  ...part,
  offset: String(offset),
  timestamp: String(minutes * 60_000),
})

test('a value is whole again from parts in any order, some of them twice', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 400 }),
      fc.integer({ min: 1, max: 50 }),
      fc.infiniteStream(fc.nat()),
      (bytes, size, random) => {
        const value = Buffer.from(bytes)
        const parts = splitIntoParts(value, size)
        const shuffled = [...parts, ...parts.slice(0, 3)]
          .map((part) => ({ part, at: random.next().value }))
          .sort((one, other) => one.at - other.at)
        const joiner = new PartJoiner()
        const found = shuffled.map(({ part }, n) => joiner.add(message(part, n))).filter((whole) => whole !== undefined)
        expect(found[0]).toEqual(value)
        expect(new Set(found.map(String)).size).toBe(1)
      },
    ),
  )
})

test('a message without parts is its own value', () => {
  expect(new PartJoiner().add({ value: Buffer.from('v'), offset: '4', timestamp: '0' })).toEqual(Buffer.from('v'))
})

test('nothing is committed past the first part of a value until it is settled, so that a slice can be read again', () => {
  const joiner = new PartJoiner()
  const [one, two] = splitIntoParts(Buffer.from('abcdef'), 3).map((part, n) => message(part, 10 + n))
  if (one === undefined || two === undefined) throw new Error('two parts')
  joiner.add(one)
  expect(joiner.earliestOffset()).toBe(10n)
  expect(joiner.add(two)).toEqual(Buffer.from('abcdef'))
  expect(joiner.earliestOffset()).toBe(10n)
  // The insert failed and only the second slice is read again.
  expect(joiner.add(two)).toEqual(Buffer.from('abcdef'))
  joiner.settle()
  expect(joiner.earliestOffset()).toBeUndefined()
  // A sender that was not told repeats a part: it is known, and holds nothing back.
  expect(joiner.add({ ...one, offset: '12' })).toBeUndefined()
  expect(joiner.earliestOffset()).toBeUndefined()
})

test('a value whose parts never all come is overdue by the log’s time, by the reader’s own only where all was read, until it is kept elsewhere', () => {
  let now = 0
  const joiner = new PartJoiner(() => now)
  const [first] = splitIntoParts(Buffer.from('abcdef'), 3)
  if (first === undefined) throw new Error('a part')
  joiner.add({ ...message(first, 10), key: Buffer.from('trace') })
  expect(joiner.overdue({ log: 59_000 }, 60_000)).toEqual([])
  now = 61_000
  // A reader an hour behind reads the rest in a moment: its own clock says nothing.
  expect(joiner.overdue({ log: 59_000 }, 60_000)).toEqual([])
  const abandoned = joiner.overdue({ log: 0, read: now }, 60_000)
  expect(abandoned).toMatchObject([{ offset: 10n, trace: 'trace', value: Buffer.from('abc'), parts: 1, of: 2 }])
  expect(joiner.overdue({ log: 60_000 }, 60_000)).toEqual(abandoned)
  expect(joiner.earliestOffset()).toBe(10n)
  joiner.forget(abandoned)
  expect(joiner.earliestOffset()).toBeUndefined()
})

test('headers that make no sense are refused', () => {
  const joiner = new PartJoiner()
  const bad = (part: string) => () =>
    joiner.add({ headers: { 'homeground-payload': part, 'homeground-part': part }, value: Buffer.from(''), offset: '1', timestamp: '0' })
  for (const part of ['', '0/2', '3/2', '1/999999', 'x', '1/2/3']) expect(bad(part)).toThrow('part')
})
