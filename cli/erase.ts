// `homeground erase`: takes a user, a session or a trace out of the store and the dead letters, and says which environments still hold it.
import { HomegroundError } from '@homeground/sdk/trace'
import type { Command } from 'commander'
import { collectorSettings, kafkaOptions, openDeadLetters } from '../collector/index.ts'
import { type Erasure, openStore, readSettings } from '../store/index.ts'
import { environmentWith, folderOption, wantsJson } from './store-options.ts'
import { inert } from './terminal.ts'

interface EraseOptions {
  project: string
  user?: string
  session?: string
  trace?: string
  yes?: boolean
  folder?: string
}

export function register(program: Command): void {
  program
    .command('erase')
    .description('takes a user, a session or a trace out of the store and the dead letters; without --yes it only says what would go')
    .requiredOption('--project <NAME>', 'of this project')
    .option('--user <ID>', 'all traces of this user')
    .option('--session <ID>', 'all traces of this session')
    .option('--trace <ID>', 'this trace')
    .option('--yes', 'do it')
    .addOption(folderOption())
    .action(async (options: EraseOptions, command: Command) => {
      const environment = environmentWith({ HOMEGROUND_FOLDER: options.folder })
      const subject = subjectOf(options)
      const store = await openStore({ environment })
      try {
        const found = options.yes === true ? await store.erase(subject) : await store.erasable(subject)
        const letters = options.yes === true ? await dropLetters(environment, found.traces) : 0
        if (wantsJson(command)) {
          process.stdout.write(`${JSON.stringify({ ...found, deadLetters: letters, erased: options.yes === true })}\n`)
          return
        }
        const verb = options.yes === true ? 'erased' : 'would erase'
        process.stdout.write(
          `${verb}: ${found.traces.length} traces, ${found.spans} spans, ${found.feedback} feedback${letters === 0 ? '' : `, ${letters} dead letters`}\n`,
        )
        for (const { name, folder, hash } of found.environments) {
          process.stdout.write(
            `still held by environment ${inert(name)} (${hash.slice(0, 12)}) in ${inert(folder)}: build it again, and delete old copies\n`,
          )
        }
        if (options.yes !== true) process.stdout.write('nothing was erased; add --yes\n')
        else process.stdout.write('spans that a product still holds in its spool come back when they are sent: empty that folder too\n')
      } finally {
        await store.close()
      }
    })
}

function subjectOf({ project, user, session, trace }: EraseOptions): Erasure {
  const given = Object.fromEntries(Object.entries({ user, session, trace }).filter(([, value]) => value !== undefined))
  if (Object.keys(given).length === 1) return { project, ...given }
  throw new HomegroundError('invalid-argument', 'an erasure is of one user, one session or one trace', {
    hint: 'give exactly one of --user, --session and --trace',
  })
}

/** Where there is a Kafka queue: its dead letters of these traces. A letter that cannot be read names no trace; `homeground dlq show` tells. */
async function dropLetters(environment: Readonly<Record<string, string | undefined>>, traces: readonly string[]): Promise<number> {
  const kafka = kafkaOptions(readSettings(collectorSettings, environment))
  if (kafka === undefined || traces.length === 0) return 0
  const quiet = () => {}
  const box = await openDeadLetters(kafka, { debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet })
  try {
    const gone = new Set(traces)
    const ids = (await box.list()).filter(({ trace }) => gone.has(trace)).map(({ id }) => id)
    return ids.length === 0 ? 0 : await box.drop(ids)
  } finally {
    await box.close()
  }
}
