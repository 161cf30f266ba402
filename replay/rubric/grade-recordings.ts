// Scores what was recorded by an environment's own rubric, and says where it disagrees with a published or human score: the check that a rubric means what it should.
import type { Episode } from '@homeground/sdk/trace'
import type { Environment, Split, Task } from '../environment/types.ts'
import { episodeCostUsd, type Prices } from './cost.ts'
import { openOutsideGraders } from './outside-graders.ts'
import { scoreEpisode } from './score-episode.ts'
import type { Score } from './types.ts'

export interface GradedRecording {
  task: string
  session: string
  split: Split
  tags: Record<string, string>
  scores: Record<string, Score>
  score: number | null
  /** The feedback compared with; absent where the recording has none of that name. */
  against?: number | boolean | string
  /** Absent where there is nothing to compare. */
  agrees?: boolean
}

export interface GradeOptions {
  split?: Split | undefined
  /** Name of the feedback to compare with. Equal to 1e-9 counts as agreement; true is 1, false is 0. */
  against?: string | undefined
  prices: Prices
}

/** In task order. A task whose recording is not in the folder scores null, with the reason. */
export async function* gradeRecordings(environment: Environment, options: GradeOptions): AsyncGenerator<GradedRecording> {
  const outside = openOutsideGraders(environment.folder)
  try {
    for await (const task of environment.tasks(options.split === undefined ? {} : { split: options.split })) {
      const recording = await environment.recording(task.id)
      const episode = recording && taskPart(recording, task)
      const { scores, score } = episode
        ? await scoreEpisode(environment.rubric, {
            episode,
            task,
            tools: environment.file.tools,
            costUsd: episodeCostUsd(episode, options.prices),
            outside,
          })
        : { scores: missingScores(environment), score: null }
      const said = options.against === undefined ? undefined : feedbackOf(recording, task, options.against)
      yield {
        task: task.id,
        session: task.session,
        split: task.split,
        tags: task.tags,
        scores,
        score,
        ...(said !== undefined && { against: said, agrees: score !== null && Math.abs(score - Number(said)) <= 1e-9 }),
      }
    }
  } finally {
    await outside.close()
  }
}

/** What of its recording a task is about: in harness `turn` one model call. */
export function taskPart(recording: Episode, task: Task): Episode {
  const { step } = task.source
  if (step === undefined) return recording
  const { output: _, error: __, ...rest } = recording
  return { ...rest, steps: recording.steps.filter((item) => item.id === step) }
}

function feedbackOf(recording: Episode | undefined, task: Task, name: string): number | boolean | string | undefined {
  const said = recording?.feedback.findLast((item) => item.name === name && item.stepId === undefined)
  return said?.value ?? task.reference?.feedback?.[name]
}

function missingScores(environment: Environment): Record<string, Score> {
  const reason = 'the recording is not in the environment folder'
  return Object.fromEntries(environment.rubric.criteria.map(({ name, weight }) => [name, { value: null, weight, reason }]))
}
