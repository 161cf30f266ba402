// HOMEGROUND_PRICES: a file of one's own goes before the dated list, in the store's table and so in its views.
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { homegroundCommand, homegroundServer } from '../support/command.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'

describe.skipIf(engineIsMissing)('HOMEGROUND_PRICES', { timeout: 120_000 }, () => {
  const engine = useEngine()
  const environment = (file: string) => ({ HOMEGROUND_FOLDER: engine.folder, HOMEGROUND_PRICES: path.join(engine.folder, file) })

  test('goes before the list and adds to it, each time a collector starts', async () => {
    for (const input of [7, 8]) {
      fs.writeFileSync(
        path.join(engine.folder, 'prices.json'),
        JSON.stringify({ 'gpt-4o': { input, output: 9 }, ours: { input: 1, output: 2 } }),
      )
      const server = await homegroundServer(['collector'], environment('prices.json'))
      expect((await server.stop()).code).toBe(0)
      expect(
        await engine.sql(
          "SELECT model, input, output, cache_read FROM prices FINAL WHERE model IN ('gpt-4o', 'ours') ORDER BY model",
          'homeground',
        ),
      ).toBe(`gpt-4o\t${input}\t9\t${input}\nours\t1\t2\t1`)
      expect(Number(await engine.sql("SELECT input FROM prices FINAL WHERE model = 'gpt-4o-mini'", 'homeground'))).toBe(0.15)
    }
  })

  test('that is none ends the collector with 2 and the file’s name', async () => {
    fs.writeFileSync(path.join(engine.folder, 'broken.json'), '{"gpt-4o": {"input": "cheap"}}')
    const ended = await homegroundCommand(['collector'], { ...environment('broken.json'), HOMEGROUND_PORT: '0' })
    expect(ended.code).toBe(2)
    expect(ended.stderr).toContain('broken.json')
    const fresh = path.join(engine.folder, 'fresh')
    expect((await homegroundCommand(['up', '--port', '0', '--folder', fresh], environment('broken.json'))).code).toBe(2)
    expect(fs.existsSync(fresh), 'no engine was started for it').toBe(false)
  })
})
