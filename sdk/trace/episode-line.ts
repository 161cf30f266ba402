// An episode as one line of a JSON Lines file. Call k repeats the k-1 calls before it, so a line holds each call's messages as the difference to an earlier call; reading shares the objects again.
import type { Episode, Message, ModelCall, Step } from './episode.ts'
import { type EpisodeLine, episodeLineSchema } from './episode-schema.ts'
import { HomegroundError } from './error.ts'
import { parseInput } from './parse-input.ts'

/** JSON text without a line end. Time and size grow with the text that is new in each call, not with calls squared. */
export function formatEpisodeLine(episode: Episode): string {
  const histories = new Histories()
  const steps = episode.steps.map((step) => {
    if (step.kind !== 'model') return step
    const prefix = histories.longestPrefix(step.request.messages)
    histories.add(step)
    if (prefix === undefined) return step
    const { messages, ...rest } = step.request
    return { ...step, request: { prefix, messages: messages.slice(prefix.count), ...rest } }
  })
  return JSON.stringify({ ...episode, steps })
}

/** @throws HomegroundError invalid-input: the place, and what was expected there */
export function parseEpisodeLine(text: string, place: string): Episode {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new HomegroundError('invalid-input', `${place}: not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, {
      hint: 'an episode file holds one JSON object a line (docs/formats.md)',
      cause,
    })
  }
  return expandEpisodeLine(value, place)
}

/** The same for a line that is parsed already, as `readJsonLines` gives it. Lines without differences are episodes as they are. */
export function expandEpisodeLine(value: unknown, place: string): Episode {
  const line: EpisodeLine = parseInput(episodeLineSchema, value, { place, what: 'an episode (format 1)' })
  const earlier = new Map<string, Message[]>()
  const steps = line.steps.map((step): Step => {
    if (step.kind !== 'model') return step
    const { prefix, ...request } = step.request
    const messages = prefix === undefined ? request.messages : [...taken(earlier, prefix, place, step.id), ...request.messages]
    const call: ModelCall = { ...step, request: { ...request, messages } }
    if (!earlier.has(step.id)) earlier.set(step.id, historyAfter(call))
    return call
  })
  return { ...line, steps }
}

function taken(earlier: Map<string, Message[]>, prefix: { step: string; count: number }, place: string, id: string): Message[] {
  const history = earlier.get(prefix.step)
  if (history !== undefined && prefix.count <= history.length) return history.slice(0, prefix.count)
  const fault =
    history === undefined
      ? `there is no earlier model call ${prefix.step}`
      : `step ${prefix.step} has ${history.length} messages, not ${prefix.count}`
  throw new HomegroundError('invalid-input', `${place}: step ${id}: request.prefix cannot be expanded: ${fault}`, {
    hint: 'lines of an episode file must stay whole; write the file again from its source',
  })
}

/** The messages that a later call may begin with: the request's, then the output that the run went on with. */
function historyAfter(call: ModelCall): Message[] {
  const output = call.response?.outputs[call.chosen ?? 0]
  return output === undefined ? call.request.messages : [...call.request.messages, output]
}

interface Branch {
  /** The first step whose history goes through here. */
  step: string
  next: Map<string, Branch>
}

/** The histories so far as a tree over message texts: looking up a prefix costs one step a message. */
class Histories {
  private readonly root: Branch = { step: '', next: new Map() }
  private readonly ids = new Set<string>()
  /** Messages that calls share as objects are turned into text once. */
  private readonly texts = new WeakMap<Message, string>()

  longestPrefix(messages: readonly Message[]): { step: string; count: number } | undefined {
    let branch = this.root
    let count = 0
    for (const message of messages) {
      const next = branch.next.get(this.text(message))
      if (next === undefined) break
      branch = next
      count += 1
    }
    return count === 0 ? undefined : { step: branch.step, count }
  }

  add(call: ModelCall): void {
    // An id that stands twice names the first: a reader resolves it so.
    if (this.ids.has(call.id)) return
    this.ids.add(call.id)
    let branch = this.root
    for (const message of historyAfter(call)) {
      const text = this.text(message)
      let next = branch.next.get(text)
      if (next === undefined) {
        next = { step: call.id, next: new Map() }
        branch.next.set(text, next)
      }
      branch = next
    }
  }

  private text(message: Message): string {
    let text = this.texts.get(message)
    if (text === undefined) {
      text = JSON.stringify(message)
      this.texts.set(message, text)
    }
    return text
  }
}
