// The project's files speak of the project alone: no machine of an author, no ticket numbers, no package registry's host.
import { describe, expect, it } from 'vitest'
import { projectFiles, readProjectFile } from '../support/project-files.ts'

const strange: { what: string; pattern: RegExp }[] = [
  { what: 'a path on an author’s machine', pattern: /(^|[\s"'`(=])\/(work|home|Users|root)\/[\w.-]+/m },
  { what: 'a folder that is not in the project', pattern: /\.\.\/shared\b|\bshared\/(design|cases|data|bench|tools|hooks)\b/ },
  {
    what: 'a ticket or a conversation',
    pattern: /\b(issue|ticket) #?\d+\b|\bissues show\b|\bthis workplace\b|\bthe (team )?lead\b/i,
  },
  { what: 'a package registry', pattern: /\b(registry\.npmjs\.org|registry\.yarnpkg\.com|artifactory|verdaccio)\b|"resolved": "https?:/i },
  { what: 'a branch or worktree of an author', pattern: /\bworktree\b|\bland\.sh\b/i },
]
const self = 'test/docs/own-words.test.ts'

describe('project files', () => {
  it('are found', () => {
    expect(projectFiles().length).toBeGreaterThan(40)
  })

  it.each(strange)('do not name $what', ({ pattern }) => {
    const found = projectFiles()
      .filter((file) => file !== self && !/\.(png|gz|ico|woff2?)$/.test(file))
      .flatMap((file) => {
        const text = readProjectFile(file)
        const match = pattern.exec(text)
        return match === null ? [] : [`${file}:${text.slice(0, match.index).split('\n').length}: ${match[0].trim()}`]
      })
    expect(found).toEqual([])
  })
})
