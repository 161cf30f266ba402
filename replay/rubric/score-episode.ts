// Scores an episode by a rubric: each criterion's grader, then the weighted mean. One criterion that could not be scored leaves the whole without a score.
import { type Episode, errorText, HomegroundError } from '@homeground/sdk/trace'
import type { Task, ToolSettings } from '../environment/types.ts'
import { actions } from './graders/actions.ts'
import { contains } from './graders/contains.ts'
import { equals } from './graders/equals.ts'
import { feedback } from './graders/feedback.ts'
import { json } from './graders/json.ts'
import { cost, latency, steps } from './graders/limits.ts'
import { matches } from './graders/matches.ts'
import { noToolCalled, toolCalled, toolSequence } from './graders/tool-called.ts'
import { judge } from './judge/judge.ts'
import type { OutsideGraders } from './outside-graders.ts'
import type { Criterion, Rubric, Score } from './types.ts'

export interface ScoreInput {
  episode: Episode
  task: Task
  /** env.json's `tools`: an effect declared there goes before the recorded one. */
  tools: Record<string, ToolSettings>
  /** US dollars; `undefined` where a price is not known. */
  costUsd: number | undefined
  /** For `code` and `judge`, which score null without it. */
  outside?: OutsideGraders | undefined
}

export interface EpisodeScore {
  /** By criterion. */
  scores: Record<string, Score>
  /** In [0, 1]; null if any criterion of weight over 0 is null. */
  score: number | null
}

/** Never throws for what the episode holds. @throws HomegroundError where the rubric itself cannot be carried out */
export async function scoreEpisode(rubric: Rubric, input: ScoreInput): Promise<EpisodeScore> {
  const scores: Record<string, Score> = {}
  for (const criterion of rubric.criteria) scores[criterion.name] = await gradeCriterion(criterion, input)
  return { scores, score: weightedScore(Object.values(scores)) }
}

/** Sum of weight x value over sum of weights; null if any score of weight over 0 is null, or no weight is over 0. */
export function weightedScore(scores: readonly Score[]): number | null {
  let total = 0
  let weights = 0
  for (const { value, weight } of scores) {
    if (weight === 0) continue
    if (value === null) return null
    total += weight * value
    weights += weight
  }
  return weights === 0 ? null : total / weights
}

/** One criterion's score. What a grader throws becomes a null score with the reason, but for faults of the rubric. */
export async function gradeCriterion(criterion: Criterion, input: ScoreInput): Promise<Score> {
  try {
    return await grade(criterion, input)
  } catch (error) {
    if (HomegroundError.is(error)) throw error
    return { value: null, weight: criterion.weight, reason: `the grader failed: ${errorText(error)}` }
  }
}

function grade(criterion: Criterion, input: ScoreInput): Score | Promise<Score> {
  switch (criterion.type) {
    case 'equals':
      return equals({ criterion, ...input })
    case 'contains':
      return contains({ criterion, ...input })
    case 'matches':
      return matches({ criterion, ...input })
    case 'json':
      return json({ criterion, ...input })
    case 'tool_called':
      return toolCalled({ criterion, ...input })
    case 'no_tool_called':
      return noToolCalled({ criterion, ...input })
    case 'tool_sequence':
      return toolSequence({ criterion, ...input })
    case 'actions':
      return actions({ criterion, ...input })
    case 'feedback':
      return feedback({ criterion, ...input })
    case 'cost':
      return cost({ criterion, ...input })
    case 'latency':
      return latency({ criterion, ...input })
    case 'steps':
      return steps({ criterion, ...input })
    case 'code':
      return input.outside ? input.outside.code.grade(criterion, input) : notOpened(criterion)
    case 'judge':
      return input.outside ? judge(criterion, input, input.outside.judge) : notOpened(criterion)
    default:
      return assertNever(criterion)
  }
}

function notOpened(criterion: Criterion): Score {
  return { value: null, weight: criterion.weight, reason: `a ${criterion.type} criterion needs outside graders, which were not opened` }
}

function assertNever(value: never): never {
  throw new Error(`not a criterion: ${JSON.stringify(value)}`)
}
