// The short episodes of test/cases/dataset, filled up to whole ones.
import type { Episode, ModelCall, Step } from '@homeground/sdk/trace'
import type { Split, Task } from '../../../replay/environment/types.ts'
import type { Candidate, DatasetOptions, DatasetSource } from '../../../tune/dataset/types.ts'

type Short = { id: string; session: string; split: Split; steps: Partial<Step>[]; task?: string; score?: number | null }

export interface DatasetCase {
  id: string
  why: string
  format: string
  options: Omit<DatasetOptions, 'format'>
  episodes?: Short[]
  rollouts?: Short[]
  tasks?: Pick<Task, 'id' | 'split' | 'session' | 'messages'>[]
  scores?: Record<string, (number | null)[]>
  expect: { rows: object[]; dropped?: object; counted?: object; error?: { reason: string; session: string; episodes: string[] } }
}

export function caseSource(given: DatasetCase): DatasetSource {
  const tasks = (given.tasks ?? []).map((task): Task => ({ hash: '0'.repeat(64), tags: {}, source: { trace: task.id }, ...task }))
  const candidates = [...(given.episodes ?? []), ...(given.rollouts ?? [])].map(candidateOf)
  for (const task of tasks) {
    for (const [repeat, score] of (given.scores?.[task.id] ?? []).entries()) {
      const id = `${task.id}-${repeat}`
      candidates.push(candidateOf({ id, session: task.session, split: task.split, steps: [], task: task.id, score }))
    }
  }
  return sourceOf(candidates, tasks)
}

export function sourceOf(candidates: readonly Candidate[], tasks: readonly Task[] = []): DatasetSource {
  return {
    async *candidates() {
      yield* candidates
    },
    async *tasks() {
      yield* tasks
    },
  }
}

export function candidateOf({ id, session, split, steps, task = id, score }: Short): Candidate {
  return { episode: episodeOf(id, session, steps), task, session, split, score }
}

const at = '2026-01-31T12:00:00.000Z'

function episodeOf(id: string, session: string, steps: Partial<Step>[]): Episode {
  return {
    format: 1,
    id,
    trace: id,
    project: 'case',
    session,
    tags: {},
    startedAt: at,
    durationMs: 0,
    steps: steps.map((step, index) => {
      const base = { id: String(index).padStart(16, '0'), startedAt: at, durationMs: 0 }
      const call = { api: 'openai.chat', provider: 'openai', model: 'm' }
      return (step.kind === 'model' ? { ...base, ...call, ...(step as ModelCall) } : { ...base, ...step }) as Step
    }),
    feedback: [],
    source: { kind: 'trace' },
  }
}
