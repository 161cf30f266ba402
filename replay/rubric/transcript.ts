// An episode as a conversation that a person or a judge reads: each turn once, though every model call repeats its history.
import type { Episode, Json, Message, ModelCall, Part, ToolCall } from '@homeground/sdk/trace'

export interface Turn {
  kind: 'system' | 'user' | 'assistant' | 'call' | 'tool' | 'io' | 'agent' | 'error'
  /** What stands above the text: a role, or a tool's name and arguments. */
  head: string
  text: string
  /** How the call left the tape. */
  offTape?: string
}

/** Longest text of a turn; the rest is counted, not shown. */
const mostCharacters = 4_000

/** Turns in order. Pure. */
export function transcript(episode: Episode): Turn[] {
  const turns: Turn[] = []
  const tooled = episode.steps.some((step) => step.kind === 'tool')
  if (!episode.steps.some((step) => step.kind === 'model') && episode.input !== undefined)
    turns.push(turn('user', 'input', jsonText(episode.input)))
  // How each conversation begins: a sub-agent has one of its own, and either may bring examples that were never said.
  const begun = new Set<string>()
  for (const step of episode.steps) {
    switch (step.kind) {
      case 'model': {
        const beginning = beginningOf(step)
        for (const said of modelTurns(step, !begun.has(beginning), tooled)) turns.push(said)
        begun.add(beginning)
        break
      }
      case 'tool':
        turns.push(toolTurn(step))
        break
      case 'io':
        turns.push(turn('io', `read ${step.name}`, step.result === undefined ? '' : jsonText(step.result)))
        break
      case 'agent':
        turns.push(turn('agent', `agent ${step.name}`, step.output === undefined ? '' : jsonText(step.output)))
        break
      default:
        assertNever(step)
    }
  }
  const last = turns.findLast((item) => item.kind === 'assistant')
  if (episode.output !== undefined && jsonText(episode.output) !== last?.text)
    turns.push(turn('agent', 'returned', jsonText(episode.output)))
  if (episode.error) turns.push(turn('error', episode.error.type, episode.error.message))
  return turns
}

/** The index of the first turn in which the two differ; `undefined` where they are the same. */
export function partingTurn(a: readonly Turn[], b: readonly Turn[]): number | undefined {
  const most = Math.max(a.length, b.length)
  for (let at = 0; at < most; at++) {
    const [one, other] = [a[at], b[at]]
    if (one?.kind !== other?.kind || one?.head !== other?.head || one?.text !== other?.text) return at
  }
  return undefined
}

/** Up to the first message of the user's. */
function beginningOf({ request: { messages } }: ModelCall): string {
  return JSON.stringify(messages.slice(0, messages.findIndex(({ role }) => role === 'user') + 1))
}

function modelTurns(call: ModelCall, first: boolean, tooled: boolean): Turn[] {
  const { messages } = call.request
  const fresh = first ? messages : messages.slice(messages.findLastIndex((message) => message.role === 'assistant') + 1)
  const turns = fresh.flatMap((message) => messageTurns(message, tooled && !first))
  const output = call.response?.outputs[call.chosen ?? 0]
  if (output) turns.push(...messageTurns(output, tooled))
  if (call.error) turns.push(turn('error', `model ${call.error.type}`, call.error.message))
  return turns
}

/** @param tooled tool calls and results come as steps of their own */
function messageTurns(message: Message, tooled: boolean): Turn[] {
  const turns: Turn[] = []
  const kind = message.role === 'system' || message.role === 'developer' ? 'system' : message.role === 'assistant' ? 'assistant' : 'user'
  const text = message.parts.flatMap(partText).join('\n')
  if (text !== '' && message.role !== 'tool') turns.push(turn(kind, message.role, text))
  if (tooled) return turns
  for (const part of message.parts) {
    if (part.type === 'tool_call') turns.push(turn('call', part.name, jsonText(part.arguments)))
    if (part.type === 'tool_call_response') turns.push(turn('tool', 'result', jsonText(part.response)))
  }
  return turns
}

function partText(part: Part): string[] {
  switch (part.type) {
    case 'text':
      return [part.content]
    case 'refusal':
      return [`(refused) ${part.content}`]
    case 'reasoning':
      return part.content === '' ? [] : [`(reasoning) ${part.content}`]
    case 'tool_call':
    case 'tool_call_response':
      return []
    default:
      return [`(${part.type})`]
  }
}

function toolTurn(step: ToolCall): Turn {
  const result = step.error ? `${step.error.type}: ${step.error.message}` : step.result === undefined ? '' : jsonText(step.result)
  return {
    ...turn('tool', `${step.name}(${jsonText(step.arguments)})`, result),
    ...(step.offTape !== undefined && { offTape: step.offTape }),
  }
}

function turn(kind: Turn['kind'], head: string, text: string): Turn {
  return { kind, head: cut(head), text: cut(text) }
}

function cut(text: string): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}… (${text.length - mostCharacters} more characters)` : text
}

function jsonText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function assertNever(value: never): never {
  throw new Error(`not a step: ${JSON.stringify(value)}`)
}
