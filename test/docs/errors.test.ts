// docs/errors.md has an anchor for each code, in the section of its exit code, and no anchor for a code that is gone.
import { errorCodes } from '@homeground/sdk/trace'
import { describe, expect, it } from 'vitest'
import { readProjectFile } from '../support/project-files.ts'

describe('docs/errors.md', () => {
  const sections = readProjectFile('docs/errors.md').split(/^## /m)
  const anchors = (exit: number) =>
    (sections.find((section) => section.split('\n', 1)[0]?.includes(`(exit ${exit})`)) ?? '').matchAll(/^### (.+)$/gm)

  it.each([2, 3])('explains each code of exit %i, and nothing else', (exit) => {
    const documented = [...anchors(exit)].map((match) => match[1]).sort()
    const declared = Object.entries(errorCodes).flatMap(([code, entry]) => (entry.exit === exit ? [code] : []))
    expect(documented).toEqual(declared.sort())
  })

  it('says something under each anchor', () => {
    for (const exit of [2, 3]) {
      const section = sections.find((text) => text.includes(`(exit ${exit})`)) ?? ''
      for (const entry of section.split(/^### /m).slice(1)) {
        const [code = '', ...text] = entry.split('\n')
        expect({ code, words: text.join(' ').trim().split(/\s+/).length > 12 }).toEqual({ code, words: true })
      }
    }
  })
})
