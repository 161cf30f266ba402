// `homeground erase`: takes a user, a session or a trace out of the store, the dead letters and spools, and says which environments still hold it.
import { type ClaimedSpool, claimSpool } from '@homeground/sdk/spool'
import { HomegroundError } from '@homeground/sdk/trace'
import type { Command } from 'commander'
import {
  collectorSettings,
  type DeadLetterBox,
  eraseEverywhere,
  findEverywhere,
  type Holdings,
  kafkaOptions,
  openDeadLetters,
  type Subject,
} from '../collector/index.ts'
import { openStore, readSettings } from '../store/index.ts'
import { quietLog } from './quiet-log.ts'
import { environmentWith, folderOption, wantsJson } from './store-options.ts'
import { inert } from './terminal.ts'

interface EraseOptions {
  project: string
  user?: string
  session?: string
  trace?: string
  spool?: string[]
  yes?: boolean
  folder?: string
}

export function register(program: Command): void {
  program
    .command('erase')
    .description(
      'takes a user, a session or a trace out of the store, the dead letters and spools; without --yes it only says what would go',
    )
    .requiredOption('--project <NAME>', 'of this project')
    .option('--user <ID>', 'all traces of this user')
    .option('--session <ID>', 'all traces of this session')
    .option('--trace <ID>', 'this trace')
    .option('--spool <FOLDER...>', 'spools of products that do not run now: what waits there for a collector goes too')
    .option('--yes', 'do it')
    .addOption(folderOption())
    .action(async (options: EraseOptions, command: Command) => {
      const subject = subjectOf(options)
      const environment = environmentWith({ HOMEGROUND_FOLDER: options.folder })
      const opened: (() => Promise<void>)[] = []
      const open = async <Place>(place: Promise<Place>, close: (place: Place) => Promise<void>): Promise<Place> => {
        const found = await place
        opened.push(() => close(found))
        return found
      }
      try {
        // Opened before anything goes: where a place cannot be had nothing is half done.
        const spools: ClaimedSpool[] = []
        for (const folder of new Set(options.spool)) spools.push(await open(claimSpool(folder), (spool) => spool.release()))
        const store = await open(openStore({ environment }), (made) => made.close())
        const letters = await open(openBox(environment), async (box) => await box?.close())
        const places = { store, letters, spools }
        const found = await findEverywhere(places, subject)
        if (options.yes === true) await eraseEverywhere(places, subject, found)
        const unreadable = spools.flatMap((spool) => spool.unreadable)
        if (wantsJson(command)) {
          const { letters: about, otherwise: _otherwise, ...counts } = found
          process.stdout.write(`${JSON.stringify({ ...counts, deadLetters: about.length, unreadable, erased: options.yes === true })}\n`)
        } else process.stdout.write(textOf(found, unreadable, options))
      } finally {
        for (const close of opened.reverse()) await close()
      }
    })
}

function textOf(found: Holdings, unreadable: readonly string[], { yes, spool }: EraseOptions): string {
  const counts = [
    `${found.traces.length} traces, ${found.spans} spans, ${found.feedback} feedback`,
    ...(found.letters.length === 0 ? [] : [`${found.letters.length} dead letters`]),
    ...(spool === undefined ? [] : [`${found.spooled} spans in spools`]),
  ]
  return [
    `${yes === true ? 'erased' : 'would erase'}: ${counts.join(', ')}`,
    ...found.environments.map(
      ({ name, folder, hash }) =>
        `still held by environment ${inert(name)} (${hash.slice(0, 12)}) in ${inert(folder)}: build it again, and delete old copies`,
    ),
    ...unreadable.map((name) => `${inert(name)} is not readable as a file of a spool and was left as it is: look at it, and delete it`),
    yes === true
      ? 'spans that wait in Kafka, or in a spool that --spool did not name, come back when they are stored: give the command again then'
      : 'nothing was erased; add --yes',
    '',
  ].join('\n')
}

function subjectOf({ project, user, session, trace }: EraseOptions): Subject {
  const given = Object.fromEntries(Object.entries({ user, session, trace }).filter(([, value]) => value !== undefined))
  // Half an id finds nothing, which would read as if nothing were left of it.
  if (trace !== undefined && !/^[0-9a-f]{32}$/i.test(trace)) {
    throw new HomegroundError('invalid-argument', `--trace ${inert(trace)} is no trace id`, {
      hint: 'give all 32 hex digits, as `homeground traces show` prints them',
    })
  }
  if (Object.keys(given).length === 1) return { project, ...given }
  throw new HomegroundError('invalid-argument', 'an erasure is of one user, one session or one trace', {
    hint: 'give exactly one of --user, --session and --trace',
  })
}

/** The dead letters, where there is a Kafka queue. */
async function openBox(environment: Readonly<Record<string, string | undefined>>): Promise<DeadLetterBox | undefined> {
  const kafka = kafkaOptions(readSettings(collectorSettings, environment))
  return kafka === undefined ? undefined : await openDeadLetters(kafka, quietLog)
}
