// Rewrites a JSON Lines file in a given order, each line once, without holding it: a pass that notes where lines stand, then one that copies them.
import { JsonLinesWriter } from '@homeground/sdk/trace'
import { placeLines } from '../environment/line-index.ts'

/**
 * `placeOf` gives a line's place (0 … size-1) or `undefined` to leave it out; of several lines with one place the last stays.
 * The file is replaced whole, and left alone where it is in order.
 */
export async function orderLines(file: string, size: number, placeOf: (bytes: Buffer, line: number) => number | undefined): Promise<void> {
  const position = new Int32Array(size).fill(-1)
  let taken = 0
  let left = 0
  const places = await placeLines(file, (bytes, line) => {
    const place = placeOf(bytes, line)
    const isTaken = place !== undefined && place < size
    if (isTaken) position[place] = taken++
    else left += 1
    return isTaken
  })
  try {
    const wanted = position.filter((at) => at >= 0)
    if (left === 0 && wanted.length === places.size && wanted.every((at, place) => at === place)) return
    const writer = await JsonLinesWriter.open(file)
    try {
      for (const at of wanted) await writer.writeText(await places.read(at))
      await writer.close()
    } catch (error) {
      await writer.abort()
      throw error
    }
  } finally {
    await places.close()
  }
}
