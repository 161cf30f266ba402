// Scores the recordings and every degenerate policy by the environment's rubric: means for the whole and for each criterion.
import type { Episode } from '@homeground/sdk/trace'
import type { Environment, Task } from '../environment/types.ts'
import { answerText, finalAnswer } from '../rubric/episode-reading.ts'
import { gradeRecordings } from '../rubric/grade-recordings.ts'
import type { OutsideGraders } from '../rubric/outside-graders.ts'
import { type EpisodeScore, scoreEpisode } from '../rubric/score-episode.ts'
import { episodeOf, type Policy, type PolicyContext, policies } from './policies.ts'
import type { PolicyScore } from './types.ts'

/** Means as they grow, and which tasks a policy was given at least half the score for. */
export class ScoreSums {
  readonly #whole: number[] = []
  readonly #criteria = new Map<string, number[]>()
  readonly rewarded: string[] = []

  add(task: string, { scores, score }: EpisodeScore): void {
    if (score !== null) this.#whole.push(score)
    if (score !== null && score >= 0.5 && this.rewarded.length < 10) this.rewarded.push(task)
    for (const [name, { value }] of Object.entries(scores)) {
      const values = this.#criteria.get(name) ?? []
      this.#criteria.set(name, values)
      if (value !== null) values.push(value)
    }
  }

  values(criterion: string): readonly number[] {
    return this.#criteria.get(criterion) ?? []
  }

  result(policy: string, description: string): PolicyScore {
    return {
      policy,
      description,
      score: mean(this.#whole),
      criteria: Object.fromEntries([...this.#criteria].map(([name, values]) => [name, mean(values)])),
    }
  }
}

export async function scoreRecordings(environment: Environment): Promise<ScoreSums> {
  const sums = new ScoreSums()
  for await (const graded of gradeRecordings(environment, { prices: {} })) sums.add(graded.task, graded)
  return sums
}

export async function scorePolicies(environment: Environment, outside: OutsideGraders): Promise<{ policy: Policy; sums: ScoreSums }[]> {
  const context = await contextOf(environment)
  const scored = policies.map((policy) => ({ policy, sums: new ScoreSums() }))
  for await (const task of environment.tasks())
    for (const { policy, sums } of scored) {
      const episode = episodeOf(policy, task, context)
      sums.add(task.id, await scoreEpisode(environment.rubric, { episode, task, tools: environment.file.tools, costUsd: 0, outside }))
    }
  return scored
}

/** Tools by the tasks' own definitions, else by name; the hundred words that recorded answers use most. */
async function contextOf(environment: Environment): Promise<PolicyContext> {
  const tools = new Map<string, PolicyContext['tools'][number]>(Object.keys(environment.file.tools).map((name) => [name, { name }]))
  const words = new Map<string, number>()
  let read = 0
  for await (const task of environment.tasks()) {
    for (const tool of toolsOf(task)) tools.set(tool.name, tool)
    if (read++ < 500) countWords(await environment.recording(task.id), words)
  }
  const keywords = [...words]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 100)
    .map(([word]) => word)
  return { tools: [...tools.values()], keywords }
}

function toolsOf(task: Task): PolicyContext['tools'][number][] {
  return (task.tools ?? []).flatMap((tool) => {
    if (tool === null || typeof tool !== 'object' || Array.isArray(tool) || typeof tool['name'] !== 'string') return []
    return [{ name: tool['name'], ...(tool['parameters'] !== undefined && { parameters: tool['parameters'] }) }]
  })
}

function countWords(recording: Episode | undefined, words: Map<string, number>): void {
  const found = recording && finalAnswer(recording)
  if (!found || 'missing' in found) return
  for (const word of new Set(
    answerText(found.answer)
      .toLowerCase()
      .match(/[\p{L}\p{N}]{3,}/gu) ?? [],
  ))
    words.set(word, (words.get(word) ?? 0) + 1)
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}
