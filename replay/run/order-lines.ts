// Rewrites a JSON Lines file in a given order, each line once, without holding it: a pass that notes where lines stand, then one that copies them.
import { JsonLinesWriter } from '@homeground/sdk/trace'
import { indexLines } from '../environment/line-index.ts'

/**
 * `placeOf` gives a line's place (0 … size-1) or `undefined` to leave it out; of several lines with one place the last stays.
 * With `'episode'`, lines are told by their episode id, without being parsed. The file is replaced whole, and left alone where it is in order.
 */
export async function orderLines(file: string, size: number, placeOf: (value: unknown, line: number) => number | undefined): Promise<void>
export async function orderLines(file: string, size: number, key: 'episode', placeOf: (id: string) => number | undefined): Promise<void>
export async function orderLines(
  file: string,
  size: number,
  keyOrPlace: 'episode' | ((value: unknown, line: number) => number | undefined),
  placeOfId?: (id: string) => number | undefined,
): Promise<void> {
  let line = 0
  const index = await indexLines(
    file,
    typeof keyOrPlace === 'string'
      ? keyOrPlace
      : (value) => {
          line += 1
          return String(keyOrPlace(value, line) ?? '')
        },
  )
  try {
    const position = new Int32Array(size).fill(-1)
    for (const [at, id] of index.ids.entries()) {
      const place = placeOfId === undefined ? (id === '' ? undefined : Number(id)) : placeOfId(id)
      if (place !== undefined && place < size) position[place] = at
    }
    const wanted = position.filter((at) => at >= 0)
    if (wanted.length === index.ids.length && wanted.every((at, place) => at === place)) return
    const writer = await JsonLinesWriter.open(file)
    try {
      for (const at of wanted) await writer.writeText(await index.read(at))
      await writer.close()
    } catch (error) {
      await writer.abort()
      throw error
    }
  } finally {
    await index.close()
  }
}
