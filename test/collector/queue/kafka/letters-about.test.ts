import { describe, expect, test } from 'vitest'
import { lettersAbout } from '../../../../collector/queue/kafka/letters-about.ts'
import { encodeRows } from '../../../../collector/queue/kafka/payload.ts'
import { spanId, spanRow, traceId } from '../../../support/span-rows.ts'

const letter = (n: number, row: object) => ({
  trace: traceId(n),
  value: Buffer.from(JSON.stringify({ format: 1, kind: 'spans', rows: [row] })),
})
const torn = (n: number, row: object) => ({ trace: traceId(n), value: Buffer.from(JSON.stringify(row).slice(0, -1)) })

describe('the dead letters of a user of a project', () => {
  test.each<[what: string, letters: ReturnType<typeof letter>[], found: number[]]>([
    ['are found by what their rows say', [letter(1, { project: 'shop', user: 'ann' }), letter(2, { project: 'shop', user: 'bob' })], [1]],
    ['bring the others of their trace', [letter(1, { project: 'shop', user: 'ann' }), letter(1, { project: 'shop', user: '' })], [1, 1]],
    ['are none of another project', [letter(1, { project: 'bank', user: 'ann' })], []],
    ['are none of another project with a tag named project', [letter(1, { project: 'bank', user: 'ann', tags: { project: 'shop' } })], []],
    ['are none of another project with such a resource', [letter(1, { project: 'bank', user: 'ann', resource: { project: 'shop' } })], []],
    ['are none of somebody with a tag named user', [letter(1, { project: 'shop', user: 'bob', tags: { user: 'ann' } })], []],
    ['are none that quotes them', [letter(1, { project: 'shop', user: 'bob', requestBody: '{"user":"ann"}' })], []],
    ['are found where the value is cut off', [torn(1, { project: 'shop', user: 'ann' }), torn(2, { project: 'bank', user: 'ann' })], [1]],
    ['are found where it says no project', [torn(1, { user: 'ann' }), { trace: traceId(1), value: Buffer.from('\0') }], [1, 1]],
    [
      'are found where it is no list of rows',
      [{ trace: traceId(1), value: Buffer.from('{"rows":[{"project":"shop","user":"ann"},7]}') }],
      [1],
    ],
    ['are none where it is of nobody', [{ trace: traceId(1), value: Buffer.from('{"rows":null}') }], []],
  ])('%s', (_what, letters, found) => {
    expect(lettersAbout(letters, { project: 'shop', user: 'ann', traces: [] }).map(({ letter: { trace } }) => trace)).toEqual(
      found.map(traceId),
    )
  })

  test('are found by a trace that is known to be theirs, in their project alone', () => {
    const letters = [letter(1, { project: 'bank' }), letter(1, { project: 'shop' }), { trace: traceId(1), value: Buffer.from('no JSON') }]
    expect(lettersAbout(letters, { project: 'shop', traces: [traceId(1)] })).toEqual(
      letters.slice(1).map((about) => ({ letter: about, names: false })),
    )
  })
})

test('rows of two projects never share a message: dropping the letter of one would take the other’s away', () => {
  const row = (project: string, n: number) => spanRow({ project, traceId: traceId(1), spanId: spanId(n) })
  const encoded = encodeRows('spans', [row('shop', 1), row('bank', 2), row('shop', 3)], 1_000_000, () => 1n)
  const said = encoded.map(({ key, value }) => ({
    key,
    rows: (JSON.parse(value?.toString() ?? '') as { rows: { project: string; spanId: string }[] }).rows.map((one) => [
      one.project,
      one.spanId,
    ]),
  }))
  expect(said).toEqual([
    {
      key: traceId(1),
      rows: [
        ['shop', spanId(1)],
        ['shop', spanId(3)],
      ],
    },
    { key: traceId(1), rows: [['bank', spanId(2)]] },
  ])
})
