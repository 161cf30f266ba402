// The published tau-bench episodes, as episodes: messages become model and tool steps, expected actions the task's reference.
import fs from 'node:fs'
import zlib from 'node:zlib'
import type { Effect, Episode, Json, Step } from '@homeground/sdk/trace'
import type { Task, ToolSettings } from '../../../replay/environment/types.ts'
import { modelStep, sampleEpisode, sampleTask, toolStep } from './sample.ts'

interface TauEpisode {
  task_id: number
  trial: number
  reward: number
  messages: {
    role: string
    content: string | null
    tool_calls?: { id: string; function: { name: string; arguments: string } }[]
    tool_call_id?: string
  }[]
  expected_actions: { name: string; kwargs: { [key: string]: Json } }[]
  expected_outputs: string[]
}

const data = (name: string) => new URL(`../../../examples/data/${name}`, import.meta.url)

export function tauBenchTools(): Record<string, ToolSettings> {
  const tools = JSON.parse(fs.readFileSync(data('tau-airline-tools.json'), 'utf8')) as { name: string; effect: Effect }[]
  return Object.fromEntries(tools.map(({ name, effect }) => [name, { effect, mode: 'tape' as const, onMiss: 'error' as const }]))
}

export function tauBenchEpisodes(): { taskId: number; trial: number; reward: number; episode: Episode; task: Task }[] {
  const text = zlib.gunzipSync(fs.readFileSync(data('tau-airline-gpt4o.jsonl.gz'))).toString('utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as TauEpisode)
    .map((line) => ({
      taskId: line.task_id,
      trial: line.trial,
      reward: line.reward,
      episode: sampleEpisode({ steps: stepsOf(line), session: `tau-airline-${line.task_id}`, feedback: [] }),
      task: sampleTask({
        actions: line.expected_actions.map(({ name, kwargs }) => ({ name, arguments: kwargs })),
        outputs: line.expected_outputs,
      }),
    }))
}

function stepsOf(line: TauEpisode): Step[] {
  const open: { id: string; name: string; arguments: Json }[] = []
  const steps: Step[] = []
  for (const message of line.messages) {
    if (message.role === 'assistant') {
      steps.push(modelStep(message.content ?? ''))
      for (const call of message.tool_calls ?? [])
        open.push({ id: call.id, name: call.function.name, arguments: JSON.parse(call.function.arguments) as Json })
    }
    if (message.role === 'tool') {
      const [call] = open.splice(
        open.findIndex((item) => item.id === message.tool_call_id),
        1,
      )
      if (call) steps.push(toolStep(call.name, call.arguments, { result: message.content ?? '', effect: 'unknown' }))
    }
  }
  return steps
}
