// Recorded traffic into an environment folder. Episodes stream through once; the same episodes give the same bytes.
import fs from 'node:fs'
import path from 'node:path'
import { type Episode, HomegroundError, type Json } from '@homeground/sdk/trace'
import type { Rubric } from '../rubric/types.ts'
import { weighedFeedback } from '../rubric/weighed-feedback.ts'
import { environmentCard } from './card.ts'
import { conversationOf } from './conversation.ts'
import { draftRubric, nothingSaysRight } from './draft-rubric.ts'
import { readSettings } from './open.ts'
import type { Selection } from './select.ts'
import { defaultSplits, fewTestSessions, type SplitShares } from './splits.ts'
import { emptySurvey, type Survey, skip, surveyEpisode, surveyTask } from './survey.ts'
import { turnStarts } from './tape-entries.ts'
import { type BuiltTask, groupOf, type TaskSettings, taskOfSession, tasksOfEpisode } from './tasks.ts'
import type { EnvironmentFile, HarnessSettings, ToolOverride, ToolSettings } from './types.ts'
import { writeEnvironment } from './write.ts'

export interface BuildOptions {
  name: string
  /** Where the folder is to stand. */
  folder: string
  /** @default '1' */
  version?: string
  /** Version of this package, for `built.homeground`. */
  homeground: string
  /** What the episodes were selected by, for the card and env.json. @default {} */
  query?: Json
  /** @default `turn` where the first hundred episodes hold one with several user turns, else `loop` */
  harness?: HarnessSettings
  /** @default `turn` for harness `turn`, else `episode` */
  unit?: EnvironmentFile['unit']
  /** How the episodes were chosen of those that the query found, for the card. */
  selection?: Selection
  /** Settings of tools by name, over what the recordings say. */
  tools?: Readonly<Record<string, ToolOverride>>
  /** @default that of a folder that stands there already, else one drafted from the data */
  rubric?: Rubric
  /** @default feedback */
  reference?: TaskSettings['reference']
  splits?: SplitShares
  splitBy?: EnvironmentFile['splitBy']
  redacted?: boolean
  licence?: string
}

export interface Built {
  file: EnvironmentFile
  folder: string
  survey: Survey
  /** As it was given. */
  selection?: Selection
  /** What a person should know: few test sessions, a rubric kept, episodes left out. */
  warnings: string[]
}

/**
 * Episodes must come in a stable order (the store's is by start).
 * @throws HomegroundError invalid-input: no episode gave a task; invalid-argument: unit and harness do not go together
 */
export async function buildEnvironment(episodes: AsyncIterable<Episode> | Iterable<Episode>, options: BuildOptions): Promise<Built> {
  const survey = emptySurvey()
  const warnings: string[] = []
  const { first, all } = await peek(episodes, 100)
  const harness = options.harness ?? defaultHarness(first)
  const unit = options.unit ?? (harness.kind === 'turn' ? 'turn' : 'episode')
  refuseMismatch(unit, harness)
  const settings: TaskSettings = {
    unit,
    harness: harness.kind,
    splits: options.splits ?? defaultSplits,
    splitBy: options.splitBy ?? 'session',
    reference: options.reference ?? 'feedback',
  }
  const kept = options.rubric ?? keptRubric(options.folder)
  const file = await writeEnvironment(options.folder, surveyed(tasksOf(all, settings, survey), survey), () => {
    if (survey.tasks === 0) throw nothingBuilt(survey)
    const drafted = draftRubric(survey)
    const rubric = kept ?? drafted
    if (options.rubric === undefined && kept !== undefined && JSON.stringify(kept) !== JSON.stringify(drafted)) {
      warnings.push(`rubric.json of the earlier build is kept; delete it and build again to get a fresh draft`)
    }
    return {
      rubric,
      file: settingsFile(options, settings, harness, survey),
      card: (finished) =>
        environmentCard(finished, rubric, survey, { folder: path.basename(options.folder), selection: options.selection }),
    }
  })
  const testSessions = survey.sessions.test.size
  if (testSessions < fewTestSessions) {
    warnings.push(`the test split has ${testSessions} sessions; under ${fewTestSessions} a comparison on it can say little: collect more`)
  }
  if (kept === undefined && nothingSaysRight(survey)) {
    warnings.push(
      'nothing in this data says what is right (no expected actions or outputs, no feedback): the drafted rubric counts steps alone, and cannot tell a good answer from a bad one. Build with --reference recorded (what was done is right), send feedback, or write a rubric',
    )
  }
  const asked = weighedFeedback(kept ?? draftRubric(survey))
  if (asked.length > 0) {
    warnings.push(
      `the rubric weighs feedback (${asked.join(', ')}), which rollouts do not get: by it no rollout has a score. Give it weight 0 and weigh what a good answer shows (drafts of that have weight 0), or build with --reference recorded`,
    )
  }
  if (kept?.criteria.some((criterion) => criterion.type === 'actions' && criterion.weight > 0) && survey.references.actions === 0) {
    warnings.push(
      'the rubric weighs `actions`, and no task has reference actions: nothing will get a score. Build with --reference recorded, or change the rubric',
    )
  }
  if (isProduct(harness)) warnings.push(...productWarnings(survey))
  for (const [reason, count] of survey.skipped) warnings.push(`${count} episodes left out: ${reason}`)
  const selection = options.selection === undefined ? {} : { selection: options.selection }
  return { file, folder: path.resolve(options.folder), survey, ...selection, warnings }
}

/** What a person may not expect of a replay of the whole product. */
function productWarnings({ agents, besideEachOther }: Survey): string[] {
  return [
    ...(agents.size > 1
      ? [`the episodes are of several agents (${named(agents)}), and one function or program plays them all: choose one with --agent NAME`]
      : []),
    ...(besideEachOther.size > 1
      ? [
          `an episode asks several models (${named(besideEachOther)}): the model of an arm answers for all of them. What is to stay as it was recorded belongs in a tool (hg.tool) or a read (hg.io)`,
        ]
      : []),
  ]
}

function named(names: ReadonlySet<string>): string {
  return [...names].sort().join(', ')
}

function isProduct({ kind }: HarnessSettings): boolean {
  return kind === 'module' || kind === 'command'
}

async function* surveyed(tasks: AsyncIterable<BuiltTask>, survey: Survey): AsyncGenerator<BuiltTask> {
  for await (const built of tasks) {
    surveyTask(survey, built)
    yield built
  }
}

async function* tasksOf(episodes: AsyncIterable<Episode>, settings: TaskSettings, survey: Survey): AsyncGenerator<BuiltTask> {
  if (settings.unit === 'session') {
    yield* sessionTasks(episodes, settings, survey)
    return
  }
  for await (const episode of episodes) {
    surveyEpisode(survey, episode)
    const tasks = tasksOfEpisode(episode, settings)
    if (tasks.length === 0) skip(survey, reasonOf(settings))
    yield* tasks
  }
}

/** A session is whole only when all episodes have been seen: this unit holds them, the others stream. */
async function* sessionTasks(episodes: AsyncIterable<Episode>, settings: TaskSettings, survey: Survey): AsyncGenerator<BuiltTask> {
  const sessions = new Map<string, Episode[]>()
  for await (const episode of episodes) {
    surveyEpisode(survey, episode)
    const key = `${episode.project}\n${groupOf(episode, 'session')}`
    const session = sessions.get(key)
    if (session) session.push(episode)
    else sessions.set(key, [episode])
  }
  for (const session of sessions.values()) {
    session.sort((a, b) => (a.startedAt < b.startedAt ? -1 : a.startedAt > b.startedAt ? 1 : 0))
    const built = taskOfSession(session, settings)
    if (built === undefined) skip(survey, reasonOf(settings))
    else yield built
  }
}

function settingsFile(
  options: BuildOptions,
  settings: TaskSettings,
  harness: HarnessSettings,
  survey: Survey,
): Omit<EnvironmentFile, 'format' | 'hash'> {
  const sessions = Object.values(survey.sessions).reduce((sum, set) => sum + set.size, 0)
  const multiTurn = settings.harness === 'loop' || settings.unit === 'session'
  return {
    name: options.name,
    version: options.version ?? '1',
    // The moment of the data, not of the build: the same data gives the same bytes.
    built: { at: survey.to, homeground: options.homeground, query: options.query ?? {} },
    unit: settings.unit,
    harness,
    tools: toolSettings(options.tools ?? {}, survey),
    user: { mode: multiTurn ? 'recorded' : 'none' },
    rubric: 'rubric.json',
    splits: { ...settings.splits },
    splitBy: settings.splitBy,
    counts: { episodes: survey.episodes, tasks: survey.tasks, sessions, tapeEntries: survey.tapeEntries, ...survey.tasksOf },
    provenance: {
      projects: [...survey.projects].sort(),
      from: survey.from,
      to: survey.to,
      redacted: options.redacted ?? false,
      ...(options.licence === undefined ? {} : { licence: options.licence }),
    },
  }
}

function toolSettings(given: Readonly<Record<string, ToolOverride>>, survey: Survey): Record<string, ToolSettings> {
  const names = [...new Set([...survey.tools.keys(), ...Object.keys(given)])].sort()
  return Object.fromEntries(
    names.map((name): [string, ToolSettings] => {
      const effect = survey.tools.get(name)?.effect ?? 'unknown'
      return [name, { ...(effect === 'unknown' ? {} : { effect }), mode: 'tape', onMiss: 'error', ...given[name] }]
    }),
  )
}

/** A rubric that a person may have edited is not overwritten. */
function keptRubric(folder: string): Rubric | undefined {
  const absolute = path.resolve(folder)
  if (!fs.existsSync(path.join(absolute, 'env.json')) || !fs.existsSync(path.join(absolute, 'rubric.json'))) return undefined
  return readSettings(absolute).rubric
}

function defaultHarness(first: readonly Episode[]): HarnessSettings {
  const multiTurn = first.some((episode) => turnStarts(conversationOf(episode)).size > 1)
  return multiTurn ? { kind: 'turn' } : { kind: 'loop', maxSteps: 50 }
}

function refuseMismatch(unit: EnvironmentFile['unit'], harness: HarnessSettings): void {
  const fits = unit === 'turn' ? harness.kind === 'turn' : unit === 'session' ? isProduct(harness) : harness.kind !== 'turn'
  if (fits) return
  throw new HomegroundError('invalid-argument', `unit ${unit} does not go with harness ${harness.kind}`, {
    hint: 'turn goes with turn; episode with loop, module or command; session with module or command',
  })
}

function reasonOf(settings: TaskSettings): string {
  return settings.harness === 'module' || settings.harness === 'command'
    ? 'no agent input was recorded: wrap the agent function with hg.agent()'
    : 'no model call'
}

function nothingBuilt(survey: Survey): HomegroundError {
  const reasons = [...survey.skipped].map(([reason, count]) => `${count}: ${reason}`).join('; ')
  return new HomegroundError(
    'invalid-input',
    survey.episodes === 0 ? 'no episode was found to build from' : `none of ${survey.episodes} episodes gave a task (${reasons})`,
    {
      hint:
        survey.episodes === 0
          ? 'homeground traces list shows what is there; loosen the query'
          : 'choose another harness, or record what it needs',
    },
  )
}

/** The first episodes in an array, and all of them as one stream. */
async function peek(
  episodes: AsyncIterable<Episode> | Iterable<Episode>,
  count: number,
): Promise<{ first: Episode[]; all: AsyncIterable<Episode> }> {
  const source = (async function* () {
    yield* episodes
  })()
  const first: Episode[] = []
  for (;;) {
    const next = await source.next()
    if (next.done === true) break
    first.push(next.value)
    if (first.length === count) break
  }
  async function* all(): AsyncGenerator<Episode> {
    yield* first.splice(0)
    yield* source
  }
  return { first: [...first], all: all() }
}
