// `homeground env diff A B`: what changed from one environment to another.
import type { Command } from 'commander'
import { type Changes, diffEnvironments, type EnvironmentDifference, type FieldChange } from '../replay/environment/diff.ts'
import { openEnvironment } from '../replay/environment/open.ts'
import { wantsJson } from './store-options.ts'
import { inert } from './terminal.ts'

export function registerDiff(env: Command): void {
  env
    .command('diff')
    .description('what changed from one environment to another: tasks, splits, rubric, tools, settings')
    .argument('<a>', 'the environment folder before')
    .argument('<b>', 'the environment folder after')
    .action(async (before: string, after: string, _options: object, command: Command) => {
      const a = await openEnvironment(before)
      try {
        const b = await openEnvironment(after)
        try {
          const difference = await diffEnvironments(a, b)
          process.stdout.write(wantsJson(command) ? `${JSON.stringify(difference)}\n` : differenceText(difference))
        } finally {
          await b.close()
        }
      } finally {
        await a.close()
      }
    })
}

/** At most this many of a kind; --json has them all. */
const shown = 10

function differenceText({ a, b, same, tasks, rubric, tools, settings }: EnvironmentDifference): string {
  const lines = [
    `a: ${inert(a.name)} ${inert(a.version)}, ${a.tasks} tasks, ${a.hash.slice(0, 12)} (${inert(a.folder)})`,
    `b: ${inert(b.name)} ${inert(b.version)}, ${b.tasks} tasks, ${b.hash.slice(0, 12)} (${inert(b.folder)})`,
    `tasks: ${tasks.added.length} added, ${tasks.removed.length} removed, ${tasks.changed.length} changed, ${tasks.moved.length} moved to another split, ${tasks.unchanged} as they were`,
    ...few(tasks.added, (id) => `  + ${inert(id)}`),
    ...few(tasks.removed, (id) => `  - ${inert(id)}`),
    ...few(tasks.changed, ({ id, fields }) => `  ~ ${inert(id)}: ${fields.join(', ')}`),
    ...few(tasks.moved, ({ id, session, from, to }) => `  > ${inert(id)} (session ${inert(session)}): ${from} to ${to}`),
    ...changesText('rubric', rubric),
    ...changesText('tools', tools),
    ...(settings.length === 0 ? [] : ['settings:', ...settings.map((change) => `  ~ ${fieldText(change)}`)]),
    same
      ? 'the same: rollouts in one are rollouts in the other'
      : 'not the same: rollouts in one cannot be compared with rollouts in the other',
  ]
  return `${lines.join('\n')}\n`
}

function changesText(what: string, { added, removed, changed }: Changes): string[] {
  if (added.length + removed.length + changed.length === 0) return []
  return [
    `${what}:`,
    ...added.map((name) => `  + ${inert(name)}`),
    ...removed.map((name) => `  - ${inert(name)}`),
    ...changed.map(({ name, ...change }) => `  ~ ${inert(name)}: ${fieldText(change)}`),
  ]
}

function fieldText({ field, from, to }: FieldChange): string {
  return `${inert(field)} ${inert(JSON.stringify(from))} to ${inert(JSON.stringify(to))}`
}

function few<Item>(items: readonly Item[], line: (item: Item) => string): string[] {
  const lines = items.slice(0, shown).map(line)
  return items.length > shown ? [...lines, `  … and ${items.length - shown} more (--json lists all)`] : lines
}
