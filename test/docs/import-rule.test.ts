// The import rule is not a wish: the linter refuses a file that breaks it.
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const biome = path.join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome')

/** file, what it imports, and a piece of the message; no message = the import is right. */
const planted: [file: string, imported: string, message?: string][] = [
  ['sdk/trace/planted-1.ts', '../capture/fetch.ts', 'sdk/trace is the leaf'],
  ['sdk/trace/planted-2.ts', '@opentelemetry/api', 'sdk/trace is the leaf'],
  ['sdk/trace/planted-3.ts', 'homeground', 'sdk/trace is the leaf'],
  ['sdk/trace/planted-4.ts', 'zod'],
  ['sdk/capture/planted-1.ts', '../../store/index.ts', 'nothing of the root package'],
  ['sdk/run/planted-1.ts', 'homeground', 'nothing of the root package'],
  ['sdk/run/planted-2.ts', '../trace/index.ts'],
  ['store/planted-1.ts', '../collector/index.ts', 'Imports point one way'],
  ['store/planted-2.ts', '../sdk/trace/index.ts', 'by package name'],
  ['store/planted-3.ts', '@homeground/sdk/trace'],
  ['store/import/planted-1.ts', '../../replay/run/types.ts', 'Imports point one way'],
  ['collector/http/planted-1.ts', '../../replay/run/types.ts', 'collector and replay never import each other'],
  ['collector/http/planted-2.ts', '../../store/index.ts'],
  ['replay/run/planted-1.ts', '../../collector/index.ts', 'collector and replay never import each other'],
  ['replay/run/planted-2.ts', '../../tune/dataset/index.ts', 'collector and replay never import each other'],
  ['replay/run/planted-3.ts', '../../sdk/run/seam.ts', 'by package name'],
  ['tune/dataset/planted-1.ts', '../../cli/output.ts', 'Imports point one way'],
  ['tune/dataset/planted-2.ts', '../../replay/run/types.ts'],
  ['cli/planted-1.ts', '../sdk/trace/index.ts', 'by package name'],
  ['cli/planted-2.ts', '../replay/run/types.ts'],
  ['examples/product/planted-1.ts', '../../sdk/index.ts', 'Examples import'],
  ['examples/product/planted-2.ts', '@homeground/sdk'],
]

describe('import rule', () => {
  let folder: string
  let refused: Map<string, string>

  beforeAll(async () => {
    folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-import-rule-')))
    const settings = JSON.parse(fs.readFileSync(path.join(root, 'biome.json'), 'utf8'))
    settings.vcs = { enabled: false }
    fs.writeFileSync(path.join(folder, 'biome.json'), JSON.stringify(settings))
    for (const [file, imported] of planted) {
      fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
      fs.writeFileSync(path.join(folder, file), `import * as planted from '${imported}'\nexport const used = planted\n`)
    }
    refused = await lint(folder)
  })
  afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

  it.each(planted.filter(([, , message]) => message !== undefined))('refuses in %s an import of %s', (file, _imported, message) => {
    expect(refused.get(file)).toContain(message)
  })

  it.each(planted.filter(([, , message]) => message === undefined))('lets %s import %s', (file) => {
    expect(refused.get(file)).toBeUndefined()
  })
})

/** Messages of the import rule, by file. */
async function lint(folder: string): Promise<Map<string, string>> {
  const report = await new Promise<string>((resolve) => {
    execFile(
      process.execPath,
      [biome, 'lint', '--only=style/noRestrictedImports', '--max-diagnostics=none', '--reporter=json', '.'],
      { cwd: folder, maxBuffer: 1 << 24 },
      (_error, stdout) => resolve(stdout),
    )
  })
  const { diagnostics } = JSON.parse(report) as { diagnostics: { location: { path: unknown }; [key: string]: unknown }[] }
  return new Map(diagnostics.map((diagnostic) => [pathOf(diagnostic.location.path), JSON.stringify(diagnostic)]))
}

function pathOf(location: unknown): string {
  const text = typeof location === 'string' ? location : (location as { file: string }).file
  return text.replace(/^\.\//, '')
}
