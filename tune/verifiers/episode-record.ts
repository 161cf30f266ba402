// A line of traces.jsonl: an episode as verifiers records one, so that its tools read what was played here.
import type { Task } from '../../replay/environment/types.ts'
import { taskPrompt } from '../dataset/task-prompt.ts'
import type { Candidate } from '../dataset/types.ts'
import type { Row } from '../formats/messages.ts'
import { messageGraph } from './message-graph.ts'

/** Of verifiers' schema, and the release that it was checked with. */
export const traceVersion = 1
export const verifiersVersion = '0.4.0'

/** What tasks.jsonl of the package holds of a task. The prompt is for people: the product builds its own. */
export function taskData(task: Task): Row {
  const asked = taskPrompt(task, { dialect: 'openai' }).findLast(({ role }) => role === 'user')?.['content']
  return {
    id: task.id,
    prompt: typeof asked === 'string' ? asked : JSON.stringify(asked ?? null),
    split: task.split,
    ...(task.session === undefined ? {} : { session: task.session }),
  }
}

export function episodeRecord({ episode, task: id, score, arm, repeat }: Candidate, data: Row, taskset: string): Row {
  const { nodes, calls } = messageGraph(episode)
  const start = Date.parse(episode.startedAt) / 1000
  const end = start + episode.durationMs / 1000
  const task = { type: 'HomegroundTask', data, key: id }
  const trace: Row = {
    version: traceVersion,
    id: episode.id,
    verifiers: { version: verifiersVersion },
    task,
    agent: { config: { harness: { id: taskset }, runtime: { type: 'subprocess' } }, name: 'agent' },
    nodes,
    calls,
    rewards: { rubric: typeof score === 'number' ? { score, weight: 1 } : null },
    metrics: {},
    info: { homeground: { ...(arm === undefined ? {} : { arm }), ...(repeat === undefined ? {} : { repeat }) } },
    is_completed: true,
    ok: true,
    errors: [],
    timing: { start, agent: { start, end } },
  }
  return { id: episode.id, env: { id: taskset }, task, ok: true, errors: [], traces: [trace] }
}
