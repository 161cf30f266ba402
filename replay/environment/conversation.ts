// What was said in an episode, as a conversation: which model calls continue each other, and what came between them. `loop` and `turn` tasks, and tapes without tool spans, rest on it.
import {
  type Episode,
  type Message,
  type ModelCall,
  type Step,
  sameJson,
  type ToolCallPart,
  type ToolCallResponsePart,
} from '@homeground/sdk/trace'

/** One thread: each call's request begins with the earlier call's request and answer. */
export interface Conversation {
  calls: ModelCall[]
  /** What came before call k: `gaps[0]` is the whole first request, `gaps[k]` the messages after the answer to call k-1. */
  gaps: Message[][]
}

/**
 * The conversation of one lane: its longest thread, the first among equals. Side calls (a classifier, a compacted history) are
 * threads of their own. `undefined` where the lane has no model call.
 */
export function conversationOf(episode: Episode, lane?: string): Conversation | undefined {
  let longest: Conversation | undefined
  for (const thread of threadsOf(episode, lane)) if (longest === undefined || thread.calls.length > longest.calls.length) longest = thread
  return longest
}

/** All threads of a lane, in order of their first calls. Calls that were answered by an error continue nothing. */
export function threadsOf(episode: Episode, lane?: string): Conversation[] {
  const lanes = lanesOf(episode)
  const threads: Conversation[] = []
  for (const call of episode.steps) {
    if (call.kind !== 'model' || lanes.get(call.id) !== lane) continue
    let parent: Conversation | undefined
    let count = 0
    for (const thread of threads) {
      const history = historyOf(thread)
      if (history.length > count && beginsWith(call.request.messages, history)) {
        parent = thread
        count = history.length
      }
    }
    const gap = call.request.messages.slice(count)
    if (parent === undefined) threads.push({ calls: [call], gaps: [gap] })
    else {
      parent.calls.push(call)
      parent.gaps.push(gap)
    }
  }
  return threads
}

/** The output that the run went on with. */
export function outputOf(call: ModelCall): Message | undefined {
  return call.response?.outputs[call.chosen ?? 0]
}

/** The tool calls in a message, in its order. */
export function toolCallsOf(message: Message | undefined): ToolCallPart[] {
  return (message?.parts ?? []).filter((part): part is ToolCallPart => part.type === 'tool_call')
}

/** The tool results in these messages, in order. */
export function toolResultsOf(messages: readonly Message[]): ToolCallResponsePart[] {
  return messages.flatMap((message) => message.parts.filter((part): part is ToolCallResponsePart => part.type === 'tool_call_response'))
}

/** True for a message that a person (or what plays one) wrote, rather than a tool's result under another role. */
export function isUserTurn(message: Message): boolean {
  return message.role === 'user' && !message.parts.some((part) => part.type === 'tool_call_response')
}

/** Step id -> name of the sub-agent it ran under; absent = the main agent. In the episode of a session the agent runs at its top are the main agent's. */
export function lanesOf(episode: Episode, options: { session?: boolean } = {}): Map<string, string | undefined> {
  const steps = new Map<string, Step>(episode.steps.map((step) => [step.id, step]))
  const lanes = new Map<string, string | undefined>()
  const isTop = (agent: Step) => options.session === true && (agent.parent === undefined || !steps.has(agent.parent))
  const laneOf = (step: Step, depth: number): string | undefined => {
    if (lanes.has(step.id)) return lanes.get(step.id)
    const parent = step.parent === undefined ? undefined : steps.get(step.parent)
    // A broken parent chain that bites its tail must not hang.
    const lane =
      parent === undefined || depth > 1_000
        ? undefined
        : parent.kind === 'agent' && !isTop(parent)
          ? parent.name
          : laneOf(parent, depth + 1)
    lanes.set(step.id, lane)
    return lane
  }
  for (const step of episode.steps) laneOf(step, 0)
  return lanes
}

function historyOf(thread: Conversation): Message[] {
  const last = thread.calls[thread.calls.length - 1]
  const output = last === undefined ? undefined : outputOf(last)
  return last === undefined ? [] : output === undefined ? last.request.messages : [...last.request.messages, output]
}

function beginsWith(messages: readonly Message[], prefix: readonly Message[]): boolean {
  if (prefix.length > messages.length) return false
  // From the end: what differs, differs late.
  for (let index = prefix.length - 1; index >= 0; index -= 1) if (!sameJson(messages[index], prefix[index])) return false
  return true
}
