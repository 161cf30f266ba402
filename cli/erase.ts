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
import { recordedAs } from './recorded-as.ts'
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
      const subjects = subjectsOf(options)
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
        const holdings: Holdings[] = []
        for (const subject of subjects) {
          const found = await findEverywhere(places, subject)
          if (options.yes === true) await eraseEverywhere(places, subject, found)
          holdings.push(found)
        }
        const found = together(holdings)
        const unreadable = spools.flatMap((spool) => spool.unreadable)
        if (wantsJson(command)) {
          const { letters: about, otherwise: _otherwise, ...counts } = found
          process.stdout.write(`${JSON.stringify({ ...counts, deadLetters: about.length, unreadable, erased: options.yes === true })}\n`)
        } else process.stdout.write(wordsText(subjects, holdings) + textOf(found, unreadable, options))
      } finally {
        for (const close of opened.reverse()) await close()
      }
    })
}

/** Of one person under several words. */
function together(holdings: readonly Holdings[]): Holdings {
  const sum = (count: (held: Holdings) => number): number => holdings.reduce((all, held) => all + count(held), 0)
  const environments = holdings.flatMap((held) => held.environments).map((one) => [`${one.hash} ${one.folder}`, one] as const)
  return {
    traces: [...new Set(holdings.flatMap((held) => held.traces))],
    spans: sum(({ spans }) => spans),
    feedback: sum(({ feedback }) => feedback),
    environments: [...new Map(environments).values()],
    letters: holdings.flatMap(({ letters }) => letters),
    spooled: sum(({ spooled }) => spooled),
    otherwise: [...new Set(holdings.flatMap(({ otherwise }) => otherwise))],
  }
}

function holds({ traces, letters, spooled, otherwise }: Holdings): boolean {
  return traces.length + letters.length + spooled + otherwise.length > 0
}

/** By which words something is held, and what to do where nothing is by any. */
function wordsText(subjects: readonly Subject[], holdings: readonly Holdings[]): string {
  const [name = '', ...words] = subjects.map(({ user, session }) => user ?? session ?? '')
  if (name === '') return ''
  const found = words.filter((_, index) => holds(holdings[index + 1] ?? together([])))
  if (found.length > 0) return `${inert(name)} is recorded as ${found.map((word) => inert(word)).join(', ')}\n`
  if (holdings.some(holds)) return ''
  return `nothing is held of ${inert(name)}. A product that redacts records another word: set HOMEGROUND_REDACT_KEY to its key here, and of a hook of its own give the word that it makes\n`
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

/** One, and what redaction makes of it. */
function subjectsOf(options: EraseOptions): Subject[] {
  const { project, user, session } = subjectOf(options)
  const path = user === undefined ? 'session' : 'user'
  const name = user ?? session
  return name === undefined
    ? [subjectOf(options)]
    : recordedAs(name, { project, path }, process.env).map((word): Subject => ({ project, [path]: word }))
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
