// An episode as one line of a JSON Lines file. Call k repeats the k-1 calls before it, so a line holds each call's messages as the difference to an earlier call, and its tools as the name of one that sent the same; reading shares the objects again.
import type { Episode, Message, ModelCall, Step, ToolDefinition } from './episode.ts'
import { type EpisodeLine, episodeLineSchema } from './episode-schema.ts'
import { HomegroundError } from './error.ts'
import { JsonMap } from './json-map.ts'
import { parseInput } from './parse-input.ts'
import { errorText } from './thrown.ts'

/** JSON text without a line end. Time and size grow with the text that is new in each call, not with calls squared. */
export function formatEpisodeLine(episode: Episode): string {
  const histories = new Histories()
  const toolLists = new ToolLists()
  const steps = episode.steps.map((step) => {
    if (step.kind !== 'model') return step
    const { messages, tools, ...rest } = step.request
    const prefix = histories.longestPrefix(messages)
    const earlier = toolLists.earlier(tools)
    histories.add(step)
    toolLists.add(step, earlier)
    if (prefix === undefined && earlier === undefined) return step
    const difference = prefix === undefined ? { messages } : { prefix, messages: messages.slice(prefix.count) }
    return { ...step, request: { ...difference, tools: earlier ?? tools, ...rest } }
  })
  return JSON.stringify({ ...episode, steps })
}

/** @throws HomegroundError invalid-input: the place, and what was expected there */
export function parseEpisodeLine(text: string, place: string): Episode {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new HomegroundError('invalid-input', `${place}: not JSON: ${errorText(cause)}`, {
      hint: 'an episode file holds one JSON object a line (docs/formats.md)',
      cause,
    })
  }
  return expandEpisodeLine(value, place)
}

/** The same for a line that is parsed already, as `readJsonLines` gives it. Lines without differences are episodes as they are. */
export function expandEpisodeLine(value: unknown, place: string): Episode {
  const line: EpisodeLine = parseInput(episodeLineSchema, value, { place, what: 'an episode (format 1)' })
  const earlier = new Map<string, Earlier>()
  const steps = line.steps.map((step): Step => {
    if (step.kind !== 'model') return step
    const { prefix, ...request } = step.request
    const messages = prefix === undefined ? request.messages : [...taken(earlier, prefix, place, step.id), ...request.messages]
    const tools = typeof request.tools === 'string' ? toolsOf(earlier, request.tools, place, step.id) : request.tools
    const call: ModelCall = { ...step, request: { ...request, messages, tools } }
    if (!earlier.has(step.id)) earlier.set(step.id, { history: historyAfter(call), tools })
    return call
  })
  return { ...line, steps }
}

/** What a later call's line may point to. */
interface Earlier {
  history: Message[]
  tools: ToolDefinition[]
}

function taken(earlier: Map<string, Earlier>, prefix: { step: string; count: number }, place: string, id: string): Message[] {
  const history = earlier.get(prefix.step)?.history
  if (history !== undefined && prefix.count <= history.length) return history.slice(0, prefix.count)
  const fault =
    history === undefined
      ? `there is no earlier model call ${prefix.step}`
      : `step ${prefix.step} has ${history.length} messages, not ${prefix.count}`
  throw unresolved(`${place}: step ${id}: request.prefix cannot be expanded: ${fault}`)
}

function toolsOf(earlier: Map<string, Earlier>, step: string, place: string, id: string): ToolDefinition[] {
  const tools = earlier.get(step)?.tools
  if (tools !== undefined) return tools
  throw unresolved(`${place}: step ${id}: request.tools cannot be expanded: there is no earlier model call ${step}`)
}

function unresolved(message: string): HomegroundError {
  return new HomegroundError('invalid-input', message, {
    hint: 'lines of an episode file must stay whole; write the file again from its source',
  })
}

/** The messages that a later call may begin with: the request's, then the output that the run went on with. */
function historyAfter(call: ModelCall): Message[] {
  const output = call.response?.outputs[call.chosen ?? 0]
  return output === undefined ? call.request.messages : [...call.request.messages, output]
}

/** What may follow in a history: by message, the first step that holds it there. */
type Branches = JsonMap<Message, { step: string; next: Branches }>

/** The histories so far as a tree over messages: looking up a prefix costs one step a message, and nothing more where calls share their messages as objects. */
class Histories {
  private readonly roots: Branches = new JsonMap()
  private readonly ids = new Set<string>()

  longestPrefix(messages: readonly Message[]): { step: string; count: number } | undefined {
    let branches = this.roots
    let step = ''
    let count = 0
    for (const message of messages) {
      const found = branches.get(message)
      if (found === undefined) break
      branches = found.next
      step = found.step
      count += 1
    }
    return count === 0 ? undefined : { step, count }
  }

  add(call: ModelCall): void {
    // An id that stands twice names the first: a reader resolves it so.
    if (this.ids.has(call.id)) return
    this.ids.add(call.id)
    let branches = this.roots
    for (const message of historyAfter(call)) {
      let found = branches.get(message)
      if (found === undefined) {
        found = { step: call.id, next: new JsonMap() }
        branches.add(message, found)
      }
      branches = found.next
    }
  }
}

/** The lists of tool definitions so far: most calls of a run send the same. */
class ToolLists {
  private readonly lists = new JsonMap<readonly ToolDefinition[], string>()
  private readonly ids = new Set<string>()

  /** The first step that sent these; `undefined` where there is none, or nothing to save. */
  earlier(tools: readonly ToolDefinition[]): string | undefined {
    return tools.length === 0 ? undefined : this.lists.get(tools)
  }

  /** An id that stands twice names the first. */
  add(call: ModelCall, earlier: string | undefined): void {
    if (!this.ids.has(call.id) && earlier === undefined) this.lists.add(call.request.tools, call.id)
    this.ids.add(call.id)
  }
}
