// An episode's model calls as threads: each call goes on from what the call before it knew and said. Where history branches or is compacted, a new thread begins.
import { canonicalJson, type Episode, type Json, type Message, type ModelCall, type ToolDefinition } from '@homeground/sdk/trace'

export interface Thread {
  /** The first request's messages: what the first turn was an answer to. */
  prompt: Message[]
  /** Turns in order; each is what the model said, and what came after it before the next turn. */
  turns: Turn[]
  tools: ToolDefinition[]
  parameters: Record<string, Json>
}

export interface Turn {
  call: ModelCall
  output: Message
  /** Tool results and user messages up to the next turn; empty after the last. */
  after: Message[]
}

/** Calls without an answer make no turn; the run's chosen output is the turn of a call with several. */
export function threadsOf(episode: Episode): Thread[] {
  const growing: { thread: Thread; history: string[] }[] = []
  const text = messageTexts()
  for (const call of episode.steps) {
    if (call.kind !== 'model') continue
    const output = call.response?.outputs[call.chosen ?? 0]
    if (output === undefined || output.parts.length === 0) continue
    const messages = call.request.messages
    const texts = messages.map(text)
    const earlier = longestPrefix(growing, texts)
    if (earlier === undefined) {
      const thread = {
        prompt: messages,
        turns: [{ call, output, after: [] }],
        tools: call.request.tools,
        parameters: call.request.parameters,
      }
      growing.push({ thread, history: [...texts, text(output)] })
      continue
    }
    const last = earlier.thread.turns.at(-1)
    if (last !== undefined) last.after = messages.slice(earlier.history.length)
    earlier.thread.turns.push({ call, output, after: [] })
    earlier.thread.tools = united(earlier.thread.tools, call.request.tools)
    earlier.history = [...texts, text(output)]
  }
  return growing.map(({ thread }) => thread)
}

/** Everything that was said in the thread, in order. */
export function threadMessages(thread: Thread): Message[] {
  return [...thread.prompt, ...thread.turns.flatMap(({ output, after }) => [output, ...after])]
}

/**
 * Text that two messages share where they say the same. What a provider added and the reasoning are left out: products send history
 * back without them. `callIds: false` leaves out call ids too, which differ between two runs of one task.
 */
export function messageText(message: Message, options: { callIds?: boolean } = {}): string {
  const parts = message.parts
    .filter((part) => part.type !== 'reasoning' && !(part.type === 'text' && part.content === ''))
    .map(({ provider: _, ...part }) => {
      if (options.callIds !== false) return part
      const { id: _id, ...rest } = part as { id?: unknown }
      return rest
    })
  // Parts hold JSON only: they were read from bodies.
  return canonicalJson([message.role, message.name ?? '', parts] as unknown as Json)
}

function longestPrefix<T extends { history: string[] }>(candidates: readonly T[], texts: readonly string[]): T | undefined {
  let found: T | undefined
  for (const candidate of candidates) {
    const { history } = candidate
    if (history.length <= texts.length && history.length > (found?.history.length ?? 0) && beginsWith(texts, history)) found = candidate
  }
  return found
}

function beginsWith(texts: readonly string[], prefix: readonly string[]): boolean {
  // From the end: what differs, differs late.
  for (let index = prefix.length - 1; index >= 0; index--) if (texts[index] !== prefix[index]) return false
  return true
}

/** Message objects that calls share are turned into text once. */
function messageTexts(): (message: Message) => string {
  const texts = new WeakMap<Message, string>()
  return (message) => {
    const known = texts.get(message)
    if (known !== undefined) return known
    const text = messageText(message)
    texts.set(message, text)
    return text
  }
}

function united(first: readonly ToolDefinition[], second: readonly ToolDefinition[]): ToolDefinition[] {
  const names = new Set(first.map(({ name }) => name))
  return [...first, ...second.filter(({ name }) => !names.has(name))]
}
