// An episode as a person reads it in a terminal. Each message once: a call's request repeats the calls before it.
import { canonicalJson, type Episode, type Json, type Message, type ModelCall, type Part, type Step } from '@homeground/sdk/trace'
import { inert } from './terminal.ts'

const longest = 2_000

/** Ends with a line break. */
export function episodeText(episode: Episode): string {
  const lines = [
    `episode ${episode.id}   project ${inert(episode.project)}   ${episode.startedAt}   ${(episode.durationMs / 1000).toFixed(2)} s`,
    line('agent', episode.agent === undefined ? undefined : [episode.agent.name, episode.agent.version].filter(Boolean).join(' ')),
    line('session', episode.session),
    line('user', episode.user),
    line(
      'tags',
      Object.entries(episode.tags)
        .map(([key, value]) => `${key}=${value}`)
        .join(' ') || undefined,
    ),
    line('source', episode.source.kind === 'trace' ? undefined : Object.values(episode.source).join(' ')),
    line('input', jsonText(episode.input)),
    '',
    ...stepLines(episode.steps),
    line('output', jsonText(episode.output)),
    line('error', episode.error === undefined ? undefined : `${episode.error.type}: ${episode.error.message}`),
    ...episode.feedback.map((feedback) =>
      line(
        'feedback',
        `${feedback.name} = ${String(feedback.value)} (${feedback.source})${feedback.comment === undefined ? '' : ` ${feedback.comment}`}`,
      ),
    ),
  ]
  return `${lines.filter((text) => text !== undefined).join('\n')}\n`
}

function stepLines(steps: readonly Step[]): string[] {
  const shown = new Set<string>()
  return steps.flatMap((step) => {
    const failed = step.error === undefined ? '' : `   error ${inert(step.error.type)}: ${inert(step.error.message)}`
    const took = `${Math.round(step.durationMs)} ms${failed}`
    switch (step.kind) {
      case 'model':
        return [
          `● ${inert(step.model)} (${inert(step.api)})   ${usage(step)}${took}`,
          ...messageLines(step.request.messages, shown),
          ...messageLines(step.response?.outputs ?? [], shown),
          '',
        ]
      case 'tool':
        return [
          `● tool ${inert(step.name)}   ${took}`,
          indented('arguments', jsonText(step.arguments)),
          indented('result', jsonText(step.result)),
          '',
        ]
      case 'io':
        return [`● read ${inert(step.name)}   ${took}`, indented('key', jsonText(step.key)), indented('result', jsonText(step.result)), '']
      case 'agent':
        return [
          `● agent ${inert(step.name)}   ${took}`,
          indented('input', jsonText(step.input)),
          indented('output', jsonText(step.output)),
          '',
        ]
      default:
        return step satisfies never
    }
  })
}

function messageLines(messages: readonly Message[], shown: Set<string>): string[] {
  return messages.flatMap((message) => {
    const key = canonicalJson(JSON.parse(JSON.stringify(message)))
    if (shown.has(key)) return []
    shown.add(key)
    return message.parts.map((part) => indented(message.role, partText(part)))
  })
}

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.content
    case 'reasoning':
      return `(thinks) ${part.content}`
    case 'refusal':
      return `(refuses) ${part.content}`
    case 'tool_call':
      return `→ ${part.name}(${jsonText(part.arguments) ?? ''})`
    case 'tool_call_response':
      return `← ${jsonText(part.response) ?? ''}`
    default:
      return `(${part.type})`
  }
}

function usage(step: ModelCall): string {
  const tokens = step.response?.usage
  return tokens?.inputTokens === undefined ? '' : `${tokens.inputTokens}/${tokens.outputTokens ?? 0} tokens   `
}

function indented(label: string, text: string | undefined): string {
  return `    ${inert(label)}: ${block(text ?? '')}`
}

function line(label: string, text: string | undefined): string | undefined {
  return text === undefined ? undefined : `${label}: ${block(text)}`
}

function block(text: string): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text
  return inert(cut, { multiline: true }).replaceAll('\n', '\n      ')
}

function jsonText(value: Json | undefined): string | undefined {
  if (value === undefined) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}
