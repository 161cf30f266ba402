// The reference page says what is published, and every export says what it is for.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
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
      '### `Episode`',
    ])
      expect(page).toContain(heading)
  })
})
