// `homeground erase`: takes a user, a session or a trace out of the store and the dead letters, and says which environments still hold it.
import { HomegroundError } from '@homeground/sdk/trace'
import type { Command } from 'commander'
import { collectorSettings, type DeadLetterBox, kafkaOptions, openDeadLetters } from '../collector/index.ts'
import { type Erasure, type ErasureResult, openStore, readSettings } from '../store/index.ts'
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
      // Opened before anything goes: where the broker is away nothing is half done.
      const box = await openBox(environment).catch(async (error: unknown) => {
        await store.close()
        throw error
      })
      try {
        const forget = options.yes === true ? store.erase : store.erasable
        const found = await forget(subject)
        const { trace, ...who } = subject
        const letters =
          (await box?.about({ ...who, traces: [...found.traces, ...(trace === undefined ? [] : [trace.toLowerCase()])] })) ?? []
        // Traces of which only a dead letter says whose they are.
        for (const trace of new Set(letters.map((letter) => letter.trace)))
          if (!found.traces.includes(trace)) add(found, await forget({ project: options.project, trace }))
        if (options.yes === true && letters.length > 0) await box?.drop(letters.map(({ id }) => id))
        if (wantsJson(command)) {
          process.stdout.write(`${JSON.stringify({ ...found, deadLetters: letters.length, erased: options.yes === true })}\n`)
          return
        }
        const verb = options.yes === true ? 'erased' : 'would erase'
        process.stdout.write(
          `${verb}: ${found.traces.length} traces, ${found.spans} spans, ${found.feedback} feedback${letters.length === 0 ? '' : `, ${letters.length} dead letters`}\n`,
        )
        for (const { name, folder, hash } of found.environments) {
          process.stdout.write(
            `still held by environment ${inert(name)} (${hash.slice(0, 12)}) in ${inert(folder)}: build it again, and delete old copies\n`,
          )
        }
        if (options.yes !== true) process.stdout.write('nothing was erased; add --yes\n')
        else
          process.stdout.write(
            "spans that wait in Kafka or in a product's spool come back when they are stored: give the command again then, or empty the spool\n",
          )
      } finally {
        await box?.close()
        await store.close()
      }
    })
}

function add(to: ErasureResult, more: ErasureResult): void {
  to.traces.push(...more.traces)
  to.spans += more.spans
  to.feedback += more.feedback
  for (const environment of more.environments)
    if (!to.environments.some(({ hash, folder }) => hash === environment.hash && folder === environment.folder))
      to.environments.push(environment)
}

function subjectOf({ project, user, session, trace }: EraseOptions): Erasure {
  const given = Object.fromEntries(Object.entries({ user, session, trace }).filter(([, value]) => value !== undefined))
  if (Object.keys(given).length === 1) return { project, ...given }
  throw new HomegroundError('invalid-argument', 'an erasure is of one user, one session or one trace', {
    hint: 'give exactly one of --user, --session and --trace',
  })
}

/** The dead letters, where there is a Kafka queue. */
async function openBox(environment: Readonly<Record<string, string | undefined>>): Promise<DeadLetterBox | undefined> {
  const kafka = kafkaOptions(readSettings(collectorSettings, environment))
  const quiet = () => {}
  return kafka === undefined
    ? undefined
    : await openDeadLetters(kafka, { debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet })
}
