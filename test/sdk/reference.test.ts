// The reference page says what is published, every export says what it is for, and no signature names a type that stands nowhere.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readProjectFile } from '../support/project-files.ts'

describe('docs/sdk/reference.md', () => {
  it('is what scripts/reference.mjs writes, and no export lacks a comment', () => {
    const script = fileURLToPath(new URL('../../scripts/reference.mjs', import.meta.url))
    expect(execFileSync(process.execPath, [script, '--check'], { encoding: 'utf8', stdio: 'pipe' })).toBe('')
  })

  it('has every entry and what users call', () => {
    const page = readProjectFile('docs/sdk/reference.md')
    for (const heading of [
      '## @homeground/sdk\n',
      '## @homeground/sdk/testing',
      '### `homeground`',
      '### `startModelServer`',
      '### `SpoolOptions`',
      '### `Fetch`',
      '### `SchemaResult`',
      '### `Episode`',
    ])
      expect(page).toContain(heading)
  })

  it('would be refused where an export names a type that no entry exports', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-declarations-'))
    onTestFinished(() => fs.rmSync(folder, { recursive: true }))
    fs.writeFileSync(
      path.join(folder, 'index.d.ts'),
      "export { start, stop } from './start.ts';\nexport type { Known } from './types.ts';\n",
    )
    fs.writeFileSync(
      path.join(folder, 'types.d.ts'),
      'export interface Known {\n    a: string;\n}\nexport interface Lost {\n    b: Known;\n}\n',
    )
    fs.writeFileSync(
      path.join(folder, 'start.d.ts'),
      `import type { Agent } from 'node:http';
import { type Known, type Lost as Gone } from './types.ts';
interface Local {
    a: Known;
}
/** Not Gone: a comment names what it likes. */
export declare function start(options: Gone, agent: Agent): Known;
/** Stops. */
export declare function stop(kind: 'Local'): import('./types.ts').Lost | Local;
/** Named by nobody. */
export declare function other(): Gone;
export {};
`,
    )
    const reading: { exportsOf(file: string): unknown; undescribed(exports: unknown): string[] } = await import(
      fileURLToPath(new URL('../../scripts/declarations.mjs', import.meta.url))
    )
    expect(reading.undescribed(reading.exportsOf(path.join(folder, 'index.d.ts')))).toEqual([
      'Gone (named by start)',
      'Lost (named by stop)',
      'Local (named by stop)',
    ])
  })
})
