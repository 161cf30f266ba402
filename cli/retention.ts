// `homeground retention list|set|unset`: how many days a project's rows are kept.
import { HomegroundError } from '@homeground/sdk/trace'
import type { Command } from 'commander'
import { folderOption, wantsJson } from './store-options.ts'
import { inert, table } from './terminal.ts'
import { withStore } from './with-store.ts'

export function register(program: Command): void {
  const retention = program.command('retention').description("how many days a project's rows are kept; without a rule they stay")
  retention
    .command('list')
    .description('the rules')
    .addOption(folderOption())
    .action((options: { folder?: string }, command: Command) =>
      withStore(options, async (store) => {
        const rules = await store.retentions()
        if (wantsJson(command)) process.stdout.write(`${JSON.stringify(rules)}\n`)
        else if (rules.length === 0) process.stdout.write('everything is kept\n')
        else
          process.stdout.write(
            table(
              ['project', 'days'],
              rules.map(({ project, days }) => [project, String(days)]),
            ),
          )
      }),
    )
  retention
    .command('set')
    .description('rows older than so many days go away, beginning now')
    .argument('<project>', 'its name', projectOf)
    .argument('<days>', 'a whole number of 1 or more', daysOf)
    .addOption(folderOption())
    .action((project: string, days: number, options: { folder?: string }, command: Command) =>
      withStore(options, async (store) => {
        await store.setRetention(project, days)
        process.stdout.write(
          wantsJson(command) ? `${JSON.stringify({ project, days })}\n` : `${inert(project)}: rows are kept for ${days} days\n`,
        )
      }),
    )
  retention
    .command('unset')
    .description('rows stay')
    .argument('<project>')
    .addOption(folderOption())
    .action((project: string, options: { folder?: string }, command: Command) =>
      withStore(options, async (store) => {
        await store.setRetention(project, undefined)
        process.stdout.write(wantsJson(command) ? `${JSON.stringify({ project, days: null })}\n` : `${inert(project)}: rows stay\n`)
      }),
    )
}

function projectOf(name: string): string {
  if (name !== '') return name
  throw new HomegroundError('invalid-argument', 'the project is empty', { hint: '`homeground traces list` lists the projects' })
}

function daysOf(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text)
  throw new HomegroundError('invalid-argument', `${inert(text)} is no number of days`, { hint: 'give a whole number from 1 to 99999' })
}
