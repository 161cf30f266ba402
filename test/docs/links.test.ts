// Every link of every Markdown file leads somewhere: the file is in the project, and the heading is in the file.
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { projectFiles, readProjectFile } from '../support/project-files.ts'

const files = projectFiles()
const known = new Set(projectFiles({ recorded: true }).flatMap((file) => [file, ...folders(file)]))
const pages = files.filter((file) => file.endsWith('.md'))

describe('links in Markdown', () => {
  it.each(pages)('%s links to what is there', (page) => {
    expect(brokenLinks(page)).toEqual([])
  })

  it('has pages to look at', () => {
    expect(pages).toEqual(
      expect.arrayContaining(['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'docs/README.md', 'docs/errors.md']),
    )
  })
})

function brokenLinks(page: string): string[] {
  const text = withoutCode(readProjectFile(page))
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '').filter((link) => !leadsSomewhere(page, link))
}

function leadsSomewhere(page: string, link: string): boolean {
  if (/^(https?|mailto):/.test(link)) return true
  const [target = '', anchor] = link.split('#')
  const file = target === '' ? page : path.posix.normalize(path.posix.join(path.posix.dirname(page), target)).replace(/\/$/, '')
  if (!known.has(file)) return false
  return anchor === undefined || !file.endsWith('.md') || headings(file).has(anchor)
}

/** Anchors as GitHub makes them. */
function headings(file: string): Set<string> {
  return new Set(
    [...readProjectFile(file).matchAll(/^#+ (.+)$/gm)].map((match) =>
      (match[1] ?? '')
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
}

function folders(file: string): string[] {
  const folder = path.posix.dirname(file)
  return folder === '.' ? ['.'] : [folder, ...folders(folder)]
}
