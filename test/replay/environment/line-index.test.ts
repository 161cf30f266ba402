import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { placeLines } from '../../../replay/environment/line-index.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-lines-'))
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

describe('placeLines', () => {
  test.each([
    ['every line taken', () => true],
    ['the first left out', (number: number) => number > 1],
    ['every third left out', (number: number) => number % 3 !== 0],
    ['those after the two thousandth left out', (number: number) => number < 2000],
  ])('reads each line where it stands and knows its number, with %s', async (_what, take) => {
    const lines = Array.from({ length: 3000 }, (_, index) => `${'ä'.repeat(index % 7)} line ${index + 1}`)
    const file = path.join(folder, 'lines')
    fs.writeFileSync(file, lines.join('\n'))
    const places = await placeLines(file, (_bytes, number) => take(number))
    const found: [number, string][] = []
    for (let position = 0; position < places.size; position += 1) found.push([places.line(position), await places.read(position)])
    await places.close()
    expect(found).toEqual(lines.map((text, index) => [index + 1, text]).filter(([number]) => take(Number(number))))
  })
})
