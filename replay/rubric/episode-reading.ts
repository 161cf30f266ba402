// What graders read out of an episode: the final answer, what was said to the user, which tool calls were made and which of them failed. Pure.
import { canonicalJson, type Effect, type Episode, type Json, type Message, type ModelCall, type Step } from '@homeground/sdk/trace'
import { saysFailure } from './tool-failure.ts'

/** A tool call as graders see it. `failed`: its tool threw, or answered with an error in the result. */
export interface MadeCall {
  name: string
  arguments: Json
  /** The recording's own word; the environment's settings go before it. */
  effect: Effect
  failed: boolean
  /** In a replay: the recording had no answer for it. Live it would have been run. */
  unanswered: boolean
}

export type FinalAnswer = { answer: Json } | { missing: string }

/**
 * The agent function's own result, else the text of the last model call that the main agent got an answer to.
 * `missing` says why there is none: the run broke off, or no model call was answered.
 */
export function finalAnswer(episode: Episode): FinalAnswer {
  const broken = brokenOff(episode)
  if (broken !== undefined) return { missing: broken }
  if (episode.output !== undefined) return { answer: episode.output }
  const last = mainModelCalls(episode).findLast((call) => call.response !== undefined)
  if (last === undefined) return { missing: 'no model call was answered and the agent returned nothing' }
  return { answer: textOf(chosenOutput(last)) }
}

/** Why the run ended before its end: its own error, or a last model call that failed. `undefined` where it did not. */
export function brokenOff(episode: Episode): string | undefined {
  if (episode.error) return `the run ended with ${episode.error.type}: ${episode.error.message}`
  if (episode.output !== undefined) return undefined
  const last = mainModelCalls(episode).at(-1)
  if (last?.error) return `the last model call failed with ${last.error.type}: ${last.error.message}`
  return undefined
}

/** What the user says in the main agent's first call, after examples and history; empty where there is no such text. */
export function askedFirst(episode: Episode): string {
  const [first] = mainModelCalls(episode)
  return first === undefined ? '' : textOf(newMessages(first).find(({ role }) => role === 'user'))
}

/** Every text that the main agent's model wrote, and the agent's own result, in order. Sub-agents speak to the agent, not to the user. */
export function saidToUser(episode: Episode): string {
  const texts = mainModelCalls(episode).map((call) => textOf(chosenOutput(call)))
  if (episode.output !== undefined) texts.push(answerText(episode.output))
  return texts.filter((text) => text !== '').join('\n')
}

/** An answer as text: a string as it is, of anything else its strings, numbers and booleans, one a line. */
export function answerText(answer: Json): string {
  if (answer === null) return ''
  if (typeof answer === 'object') return Object.values(answer).map(answerText).join('\n')
  return String(answer)
}

/** The recorded tool calls in order; where the product's tools were not instrumented, those of the model's messages that later requests answer. */
export function madeCalls(episode: Episode): MadeCall[] {
  const recorded = episode.steps.filter((step) => step.kind === 'tool')
  if (recorded.length > 0)
    return recorded.map((call) => ({
      name: call.name,
      arguments: call.arguments,
      effect: call.effect,
      failed: call.error !== undefined || (call.result !== undefined && saysFailure(call.result)),
      unanswered: call.offTape !== undefined && call.error !== undefined,
    }))
  return callsInMessages(episode)
}

/** One call, for a reason that a person reads. */
export function callText(call: { name: string; arguments: Json }): string {
  const text = canonicalJson(call.arguments)
  return `${call.name}(${text.length > 200 ? `${text.slice(0, 199)}…` : text})`
}

function callsInMessages(episode: Episode): MadeCall[] {
  const waiting: { id: string | undefined; name: string; arguments: Json }[] = []
  const made: MadeCall[] = []
  for (const call of episode.steps.filter((step) => step.kind === 'model')) {
    for (const part of newMessages(call).flatMap((message) => message.parts)) {
      if (part.type !== 'tool_call_response') continue
      // Ids are not unique over an episode: an answer belongs to the oldest call of its id that waits.
      const at = waiting.findIndex((open) => open.id === part.id)
      const [open] = at < 0 ? [] : waiting.splice(at, 1)
      if (open)
        made.push({ name: open.name, arguments: open.arguments, effect: 'unknown', failed: saysFailure(part.response), unanswered: false })
    }
    for (const part of chosenOutput(call)?.parts ?? [])
      if (part.type === 'tool_call') waiting.push({ id: part.id, name: part.name, arguments: part.arguments })
  }
  return made
}

/** A request repeats its history: only what follows the last assistant message is new. */
function newMessages(call: ModelCall): Message[] {
  return call.request.messages.slice(call.request.messages.findLastIndex((message) => message.role === 'assistant') + 1)
}

/** Those under no sub-agent and inside no tool. */
function mainModelCalls(episode: Episode): ModelCall[] {
  const steps = new Map(episode.steps.map((step) => [step.id, step]))
  return episode.steps.filter((step) => step.kind === 'model').filter((step) => !inside(step))

  function inside(step: Step): boolean {
    const parent = step.parent === undefined ? undefined : steps.get(step.parent)
    if (parent === undefined || parent === step) return false
    return parent.kind === 'agent' || parent.kind === 'tool' || inside(parent)
  }
}

function chosenOutput(call: ModelCall): Message | undefined {
  return call.response?.outputs[call.chosen ?? 0]
}

function textOf(message: Message | undefined): string {
  return (message?.parts ?? []).flatMap((part) => (part.type === 'text' || part.type === 'refusal' ? [part.content] : [])).join('')
}
