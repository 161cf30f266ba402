// What a read gives is the product's, and what the product reads of it is recorded.
import { type Seam, withSeam } from '@homeground/sdk/seam'
import { expect, it } from 'vitest'
import { recorded } from '../recorded.ts'

const rows = async function* () {
  yield { row: 1 }
  yield { row: 2 }
}

it('a read that gives a generator gives that very one, and is recorded with what the product read of it', async () => {
  const { hg, exporter } = recorded()
  const made = [rows(), rows()]
  const given = await Promise.all(made.map((each) => hg.io('rows', () => each)))
  expect(given.map((each, index) => each === made[index])).toEqual([true, true])
  const [whole, half] = given
  const seen: unknown[] = []
  for await (const row of whole ?? rows()) seen.push(row)
  for await (const row of half ?? rows()) {
    seen.push(row)
    break
  }
  expect(seen).toEqual([{ row: 1 }, { row: 2 }, { row: 1 }])
  await hg.flush()
  expect(exporter.spans.map(({ attributes: a }) => a['homeground.io.result'])).toEqual(['[{"row":1},{"row":2}]', '[{"row":1}]'])
  expect(hg.stats()).toMatchObject({ openSpans: 0, internalErrors: 0 })
})

it('a read of a generator that fails while it is read is recorded as failed', async () => {
  const { hg, exporter } = recorded()
  const failure = new RangeError('no more')
  const given = await hg.io('rows', async function* () {
    yield 1
    throw failure
  })
  await expect(read(given)).rejects.toBe(failure)
  await hg.flush()
  expect(exporter.spans.map(({ attributes: a }) => a['error.type'])).toEqual(['RangeError'])
})

it('a replay that runs such a read live has all of it', async () => {
  const { hg } = recorded()
  const seam: Seam = { io: ({ live }) => live() }
  const state = { attributes: {}, record: () => undefined }
  expect(await withSeam({ seam, state }, async () => await hg.io('rows', rows))).toEqual([{ row: 1 }, { row: 2 }])
})

async function read(iterable: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of iterable);
}
