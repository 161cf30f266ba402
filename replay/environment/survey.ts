// What a build learns about its data while tasks stream by: tools and their effects, feedback names, counts, dates. Rubric, card and env.json are drafted from it.
import { dialectOf, type Effect, type Episode, type ToolDefinition } from '@homeground/sdk/trace'
import type { BuiltTask } from './tasks.ts'
import type { Split } from './types.ts'

export interface Survey {
  episodes: number
  tasks: number
  tapeEntries: number
  /** Sessions of each split: their names' hashes would do, but a person may want them. */
  sessions: Record<Split, Set<string>>
  tasksOf: Record<Split, number>
  projects: Set<string>
  agents: Set<string>
  models: Map<string, number>
  /** Models that one episode asks beside each other, not in tools: in a replay of the product the arm's model answers for all of them. */
  besideEachOther: Set<string>
  /** ISO 8601: first start, last end. */
  from: string
  to: string
  /** Defined or called; the effect that the spans say, the strongest where they differ; `episodes`: in how many it was called. */
  tools: Map<string, { effect: Effect; calls: number; errors: number; episodes: number }>
  references: { actions: number; outputs: number; output: number }
  feedback: Map<string, { count: number; numeric: number; max: number }>
  /** Model and tool calls of the longest episode. */
  steps: { max: number }
  /** Episodes that gave no task, by reason. */
  skipped: Map<string, number>
}

export function emptySurvey(): Survey {
  return {
    episodes: 0,
    tasks: 0,
    tapeEntries: 0,
    sessions: { train: new Set(), validation: new Set(), test: new Set() },
    tasksOf: { train: 0, validation: 0, test: 0 },
    projects: new Set(),
    agents: new Set(),
    models: new Map(),
    besideEachOther: new Set(),
    from: '',
    to: '',
    tools: new Map(),
    references: { actions: 0, outputs: 0, output: 0 },
    feedback: new Map(),
    steps: { max: 0 },
    skipped: new Map(),
  }
}

export function surveyEpisode(survey: Survey, episode: Episode): void {
  survey.episodes += 1
  survey.projects.add(episode.project)
  if (episode.agent !== undefined) survey.agents.add(episode.agent.name)
  if (survey.from === '' || episode.startedAt < survey.from) survey.from = episode.startedAt
  const end = new Date(Date.parse(episode.startedAt) + episode.durationMs).toISOString()
  if (end > survey.to) survey.to = end
  let calls = 0
  const called = new Set<string>()
  for (const step of episode.steps) {
    if (step.kind === 'model') {
      calls += 1
      survey.models.set(step.model, (survey.models.get(step.model) ?? 0) + 1)
      for (const tool of step.request.tools) toolOf(survey, tool.name, effectOf(tool))
    } else if (step.kind === 'tool') {
      calls += 1
      const tool = toolOf(survey, step.name, step.effect)
      tool.calls += 1
      called.add(step.name)
      if (step.error !== undefined) tool.errors += 1
    }
  }
  for (const name of called) toolOf(survey, name, 'unknown').episodes += 1
  survey.steps.max = Math.max(survey.steps.max, calls)
  const asked = modelsOutsideTools(episode)
  if (asked.size > 1) for (const model of asked) survey.besideEachOther.add(model)
}

/** What a tool asks is on the tape with the tool's result. */
function modelsOutsideTools({ steps }: Episode): Set<string> {
  const inTools = new Set<string>()
  const models = new Set<string>()
  // Parents come first: steps are in the order in which they started.
  for (const step of steps) {
    if (step.kind === 'tool' || (step.parent !== undefined && inTools.has(step.parent))) inTools.add(step.id)
    else if (step.kind === 'model' && dialectOf(step.api) !== undefined) models.add(step.model)
  }
  return models
}

export function surveyTask(survey: Survey, { task, entries }: BuiltTask): void {
  survey.tasks += 1
  survey.tapeEntries += entries.length
  survey.sessions[task.split].add(task.session)
  survey.tasksOf[task.split] += 1
  for (const entry of entries) if (entry.kind === 'tool') toolOf(survey, entry.name, entry.effect)
  const reference = task.reference
  if (reference?.actions !== undefined) survey.references.actions += 1
  if (reference?.outputs !== undefined) survey.references.outputs += 1
  if (reference?.output !== undefined) survey.references.output += 1
  for (const [name, value] of Object.entries(reference?.feedback ?? {})) {
    const seen = survey.feedback.get(name) ?? { count: 0, numeric: 0, max: 0 }
    const amount = typeof value === 'boolean' ? Number(value) : value
    seen.count += 1
    if (typeof amount === 'number') {
      seen.numeric += 1
      seen.max = Math.max(seen.max, amount)
    }
    survey.feedback.set(name, seen)
  }
}

export function skip(survey: Survey, reason: string): void {
  survey.skipped.set(reason, (survey.skipped.get(reason) ?? 0) + 1)
}

const strength: Record<Effect, number> = { unknown: 0, none: 1, read: 2, write: 3 }

function toolOf(survey: Survey, name: string, effect: Effect): { effect: Effect; calls: number; errors: number; episodes: number } {
  const known = survey.tools.get(name)
  if (known === undefined) {
    const added = { effect, calls: 0, errors: 0, episodes: 0 }
    survey.tools.set(name, added)
    return added
  }
  if (strength[effect] > strength[known.effect]) known.effect = effect
  return known
}

/** Imported definitions may say what the tool does. */
function effectOf(tool: ToolDefinition): Effect {
  const effect = tool['effect']
  return effect === 'none' || effect === 'read' || effect === 'write' ? effect : 'unknown'
}
