// The harnesses `loop` and `turn`: a plain agent loop. The model is asked, its tool calls are answered, and each message to the user is followed by the recorded user's next turn, or ends it.
import {
  asObject,
  asText,
  dialectOf,
  type Json,
  type Message,
  messageSchema,
  parseInput,
  type ToolCallPart,
  type ToolDefinition,
  toolDefinitionSchema,
} from '@homeground/sdk/trace'
import { toolCallsOf } from '../environment/conversation.ts'
import type { GatewayAnswer } from '../gateway/types.ts'
import { EpisodeRecorder } from './episode-recorder.ts'
import { ReplayedToolError } from './tool-answers.ts'
import type { Harness, Play, Played, ToolServed } from './types.ts'

/** How many model calls a turn may take where the harness says nothing. */
const defaultMaxSteps = 50

export const playLoop: Harness = async (play) => {
  const { job, signal } = play
  const recorder = new EpisodeRecorder(job, { ...play.deps, ids: play.ids })
  const { prompt, turns: recorded, tools } = readTask(job.task)
  const messages = [...prompt]
  const turns = [...recorded]
  const parameters = job.task.parameters ?? {}
  const api = dialectToSpeak(job)
  const userTurns = { served: 0, afterDivergence: 0 }
  const maxSteps = job.harness.maxSteps ?? defaultMaxSteps
  const end = (stop: string, error?: { type: string; message: string }): Played => ({
    episode: recorder.episode({ ...lastText(messages), ...(error === undefined ? {} : { error }) }),
    stop,
    ...(error === undefined ? {} : { error }),
    ...(userTurns.served > 0 ? { userTurns: { ...userTurns, ...(play.user === undefined ? {} : { simulated: userTurns.served }) } } : {}),
  })

  for (let step = 0; step < maxSteps; step += 1) {
    if (signal.aborted) return end('aborted')
    const begun = recorder.begin()
    const request = { messages: [...messages], tools, parameters }
    const body = dialectOf(api)?.writeRequest({ model: job.arm.model, ...request }) ?? {}
    const answer = await untilAborted(play.model.answer({ api, body, signal }), signal)
    if (answer === undefined || (answer.response === undefined && signal.aborted)) return end('aborted')
    const error = answer.response === undefined ? errorOf(answer) : undefined
    recorder.model(begun, {
      api,
      provider: answer.provider,
      model: answer.model,
      request,
      ...(answer.response === undefined ? {} : { response: answer.response }),
      ...(error === undefined ? {} : { error }),
      ...(answer.attempts > 1 ? { attempts: answer.attempts } : {}),
      ...(answer.tokens === undefined ? {} : { tokens: answer.tokens }),
    })
    if (answer.response === undefined) return end('error', error)
    const output = answer.response.outputs[0]
    if (output === undefined) return end('error', { type: 'empty-response', message: 'the response holds no message' })
    messages.push(output)
    const calls = toolCallsOf(output)
    if (calls.length === 0) {
      const next = await nextTurn(play, messages, { prompt, turns })
      if (signal.aborted) return end('aborted')
      if (next === undefined) return end('done')
      userTurns.served += 1
      if (play.user === undefined && play.tape.divergence(userTurns.served - 1) !== undefined) userTurns.afterDivergence += 1
      messages.push(...next)
      continue
    }
    let ends = false
    for (const call of calls) {
      const answered = await answerCall(play, recorder, call)
      messages.push(answered.message)
      ends ||= answered.ends
      if (signal.aborted) return end('aborted')
    }
    if (ends) return end('done')
  }
  return end('max-steps')
}

/** As recorded, the next of `turns`; or what the user would say now. */
async function nextTurn(
  { user }: Play,
  messages: readonly Message[],
  { prompt, turns }: { prompt: readonly Message[]; turns: Message[][] },
): Promise<readonly Message[] | undefined> {
  if (user === undefined) return turns.shift()
  const recorded = [...prompt, ...turns.flat()].filter(({ role }) => role === 'user')
  const said = await user.next(messages, recorded)
  return said === undefined ? undefined : [said]
}

/** Undefined where the signal ended it. */
async function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result | undefined> {
  try {
    return await work
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

interface LoopTask {
  prompt: readonly Message[]
  /** The user's turns that follow the prompt. */
  turns: readonly Message[][]
  tools: ToolDefinition[]
}

/** Read once for all arms and repeats of a task. */
const read = new WeakMap<Play['job']['task'], LoopTask>()

function readTask(task: Play['job']['task']): LoopTask {
  const before = read.get(task)
  if (before !== undefined) return before
  const place = `task ${task.id}`
  const all = (task.messages ?? []).map((message) =>
    parseInput(messageSchema, message, { place, what: 'a message', code: 'environment-invalid' }),
  )
  const sizes = task.turns ?? [all.length]
  const groups: Message[][] = []
  let from = 0
  for (const size of sizes) {
    groups.push(all.slice(from, from + size))
    from += size
  }
  const [prompt = [], ...turns] = groups
  const tools = (task.tools ?? []).map((tool) =>
    parseInput(toolDefinitionSchema, tool, { place, what: 'a tool definition', code: 'environment-invalid' }),
  )
  const loop = { prompt, turns, tools }
  read.set(task, loop)
  return loop
}

/** The endpoint's own dialect: nothing is lost in translation. The recorded model speaks that of the recording. */
function dialectToSpeak(job: Play['job']): string {
  if (job.arm.model !== 'recorded') return job.arm.api ?? 'openai.chat'
  const first = job.recording?.steps.find((step) => step.kind === 'model')
  const api = first?.kind === 'model' ? first.api : 'openai.chat'
  return dialectOf(api) === undefined ? 'openai.chat' : api
}

async function answerCall(play: Play, recorder: EpisodeRecorder, call: ToolCallPart): Promise<{ message: Message; ends: boolean }> {
  const begun = recorder.begin()
  const effect = play.job.tools[call.name]?.effect ?? 'unknown'
  const common = { name: call.name, arguments: call.arguments, effect, ...(call.id === undefined ? {} : { callId: call.id }) }
  let served: ToolServed
  try {
    served = await play.tools.tool(common)
  } catch (error) {
    if (!(error instanceof ReplayedToolError)) throw error
    const { name: type, message, offTape, ends } = error
    recorder.tool(begun, { ...common, error: { type, message }, ...(offTape === undefined ? {} : { offTape }) })
    return { message: toolMessage(call, `Error: ${message}`), ends }
  }
  const { result, offTape } = served
  recorder.tool(begun, { ...common, ...(result === undefined ? {} : { result }), ...(offTape === undefined ? {} : { offTape }) })
  return { message: toolMessage(call, result ?? ''), ends: served.ends ?? false }
}

function toolMessage(call: ToolCallPart, response: Json): Message {
  return { role: 'tool', parts: [{ type: 'tool_call_response', ...(call.id === undefined ? {} : { id: call.id }), response }] }
}

function errorOf(answer: GatewayAnswer): { type: string; message: string } {
  const error = asObject(answer.body['error'])
  return { type: String(answer.status), message: asText(error?.['message']) ?? JSON.stringify(answer.body).slice(0, 500) }
}

/** The text of the last message to the user: what the agent gave back. */
function lastText(messages: readonly Message[]): { output?: Json } {
  for (const message of [...messages].reverse()) {
    if (message.role !== 'assistant') continue
    const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.content] : [])).join('')
    if (text !== '') return { output: text }
  }
  return {}
}
