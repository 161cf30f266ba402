// What the pages say of the command line, beside the command line: each command and option that they show is there, and README names every command.
import { Command } from 'commander'
import { beforeAll, describe, expect, it } from 'vitest'
import { commands, registerCommands } from '../../cli/commands.ts'
import { projectFiles, readProjectFile } from '../support/project-files.ts'

const program = new Command('homeground').option('--json').version('0')
beforeAll(() => registerCommands(program, []))

const pages = projectFiles().filter((file) => file.endsWith('.md') && file !== 'CHANGELOG.md')

describe('the command line in the pages', () => {
  it.each(pages)('%s shows commands and options that there are', (page) => {
    expect(shown(page).flatMap(faultsOf)).toEqual([])
  })

  it('is seen in the pages', () => {
    expect(shown('README.md').length).toBeGreaterThan(10)
  })

  it('is in README whole', () => {
    const table = readProjectFile('README.md').match(/^\| command[\s\S]*?\n\n/m)?.[0] ?? ''
    const named = new Set([...table.matchAll(/`([a-z]+)[^`]*`/g)].map((match) => match[1]))
    expect(Object.keys(commands).filter((name) => !named.has(name))).toEqual([])
  })
})

/** `homeground …` up to the end of its line or its code, without comments and what a pipe or an arrow leads to. */
function shown(page: string): string[][] {
  const text = readProjectFile(page).replaceAll('\\\n', ' ')
  return [...text.matchAll(/(?:^ *|npx |`|[;&] )homeground ((?:[a-z]+|--[a-z])[^`\n]*)/gm)]
    .map((match) => match[1] ?? '')
    .map((line) => line.replace(/'[^']*'|"[^"]*"/g, 'TEXT').split(/\s+(?:[#|&>]|──)/, 1)[0] ?? '')
    .map((line) => line.split(/\s+/))
}

function faultsOf(words: string[]): string[] {
  let command: Command = program
  const rest = [...words]
  for (;;) {
    const next = command.commands.find((each) => each.name() === rest[0])
    if (next === undefined) break
    command = next
    rest.shift()
  }
  const said = `homeground ${words.join(' ')}`
  if (command === program && !rest[0]?.startsWith('-')) return [`${said}: there is no such command`]
  const known = new Set(['--help', '--json', '--version', ...command.options.map(({ long }) => long)])
  return rest
    .map((word) => /^--[a-z-]+/.exec(word)?.[0])
    .filter((option) => option !== undefined && !known.has(option))
    .map((option) => `${said}: ${option}`)
}
