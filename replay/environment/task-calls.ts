// Which model calls of a recording a task plays again.
import type { Episode, ModelCall } from '@homeground/sdk/trace'
import { conversationOf, outputOf, toolCallsOf } from './conversation.ts'
import type { HarnessSettings, Task } from './types.ts'

/** A product makes all of them again; a loop those of the main conversation; a turn those from its first call to the next message to the user. */
export function taskCalls(task: Pick<Task, 'source'>, recording: Episode, harness: HarnessSettings['kind']): ModelCall[] {
  if (harness === 'module' || harness === 'command') return recording.steps.filter((step): step is ModelCall => step.kind === 'model')
  const calls = conversationOf(recording)?.calls ?? []
  if (harness === 'loop') return calls
  const from = Math.max(
    0,
    calls.findIndex((call) => call.id === task.source.step),
  )
  const length = calls.slice(from).findIndex((call) => toolCallsOf(outputOf(call)).length === 0)
  return calls.slice(from, length === -1 ? undefined : from + length + 1)
}
