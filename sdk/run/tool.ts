// hg.tool: a function that the model may call. Recorded with the arguments that the model wrote; in a replay the tape answers instead of the function.
import { types } from 'node:util'
import { genAi, homeground, operation } from '../trace/attributes.ts'
import type { Effect, Json } from '../trace/episode.ts'
import { HomegroundError } from '../trace/error.ts'
import { checkTool } from './check-tool.ts'
import { currentFrame, type Frame } from './context.ts'
import { errorOf } from './error-of.ts'
import { gather } from './gather.ts'
import { boundedText, wholeText, wholeValue } from './json-value.ts'
import { likeGiven, observe } from './observe.ts'
import { type OpenSpan, spanKind } from './open-span.ts'
import { spanOutcome } from './outcome.ts'
import { claimCall, serveCall } from './pairing.ts'
import type { Recorder } from './recorder.ts'
import type { SeamToolCall } from './seam.ts'
import {
  type ArgumentsOf,
  inputJsonSchema,
  isStandardSchema,
  issuesText,
  type JsonSchema,
  type StandardSchema,
  validated,
} from './standard-schema.ts'
import { readToolCall, type ToolAnswer, type ToolCallLike } from './tool-call.ts'

/** What `hg.tool` is told. */
export interface ToolOptions<Parameters extends StandardSchema | JsonSchema, Context extends unknown[], Result> {
  name: string
  description?: string
  /** A Standard Schema (zod 4.2 or newer), or a JSON Schema object, which is not validated. */
  parameters: Parameters
  /** What it does to the world: `none` computes, `read` looks, `write` changes. @default 'unknown', which is treated as `write` */
  effect?: Effect
  /** False: its arguments and results are not recorded, nor the content of what runs in it. @default the run's */
  captureContent?: boolean
  /** Gets the arguments after the schema's defaults and transforms, and whatever else the caller passes. */
  execute: (args: ArgumentsOf<Parameters>, ...context: Context) => Result
}

/** What `hg.tool` gives. */
export interface Tool<Args = never, Context extends unknown[] = never, Result = unknown> {
  readonly name: string
  readonly description: string | undefined
  readonly effect: Effect
  /** The JSON Schema of what the model writes. */
  readonly parameters: Json
  /** The given function, recording: for frameworks, which have checked the arguments themselves. Switched off it is the given function. */
  readonly execute: (args: Args, ...context: Context) => Result
  /**
   * Serves a tool call as a vendor's message has it: parses and checks the arguments, runs the function, makes the text for the model.
   * Bad arguments and errors of the function become that text; rejects only when a replay has ended the run.
   */
  call(call: ToolCallLike, ...context: Context): Promise<ToolAnswer>
}

/** @throws HomegroundError invalid-argument where it could not be called, or its parameters can give no JSON Schema */
export function recordTool<Parameters extends StandardSchema | JsonSchema, Context extends unknown[], Result>(
  recorder: Recorder | undefined,
  options: ToolOptions<Parameters, Context, Result>,
): Tool<ArgumentsOf<Parameters>, Context, Result> {
  checkTool(options)
  const { name, description, parameters, execute } = options
  const effect = options.effect ?? 'unknown'
  const { captureContent } = options
  const tool: ToolIdentity = {
    name,
    effect,
    fresh: types.isAsyncFunction(execute),
    ...(captureContent === undefined ? {} : { captureContent }),
  }
  const recording = (into: Recorder) => {
    function recorded(this: unknown, ...given: [ArgumentsOf<Parameters>, ...Context]): Result {
      const [args, ...context] = given
      const id = context.map(callIdOf).find((each) => each !== undefined)
      return run(into, tool, args, id, undefined, () => Reflect.apply(execute, this, given))
    }
    return into.guard(() => likeGiven(recorded, execute), recorded)
  }
  return {
    name,
    description,
    effect,
    parameters: inputJsonSchema(name, parameters),
    execute: recorder === undefined ? execute : recording(recorder),
    call: async (call, ...context) => {
      const { callId, written, value } = readToolCall(call)
      const answer = (content: string, isError: boolean, result?: unknown): ToolAnswer => ({ callId, name, content, isError, result })
      const bad = value === undefined ? `the arguments are no JSON: ${written.slice(0, 1000)}` : undefined
      const checked = bad === undefined ? await check(parameters, value) : { problem: bad }
      if ('problem' in checked) {
        const content = `Error: invalid arguments for ${name}: ${checked.problem}`
        if (recorder !== undefined) recordRefusal(recorder, tool, callId, value ?? written, { type: 'invalid_arguments', message: content })
        return answer(content, true)
      }
      // What the schema gave is what `execute` is typed to take.
      const args = checked.args as ArgumentsOf<Parameters>
      try {
        const live = (): Result => execute(args, ...context)
        const result = await gather(await (recorder === undefined ? live() : run(recorder, tool, args, callId, value, live)))
        return answer(contentOf(result), false, result)
      } catch (error) {
        if (HomegroundError.is(error) || currentFrame()?.replay?.signal?.aborted === true) throw error
        return answer(`Error: ${errorOf(error).message}`, true)
      }
    },
  }
}

/** A call that no function was run for: an unknown tool, or arguments that the schema refuses. The tape is not touched. */
export function recordRefusal(
  recorder: Recorder,
  tool: { name: string; effect: Effect; captureContent?: boolean },
  callId: string | undefined,
  args: unknown,
  error: { type: string; message: string },
): void {
  recorder.guard(() => {
    const frame = frameFor(tool)
    const claim = claimCall(frame, tool.name, callId, args)
    const span = begin(recorder, frame, tool)
    span.error = error
    serveCall(claim)
    recorder.end(span, () => fill(recorder, span, claim.callId, claim.given, undefined))
  }, undefined)
}

/** Text for the model: a string as it is, anything else as JSON. */
function contentOf(result: unknown): string {
  return typeof result === 'string' ? result : (wholeText(result) ?? '')
}

async function check(parameters: StandardSchema | JsonSchema, value: Json | undefined): Promise<{ args: unknown } | { problem: string }> {
  if (!isStandardSchema(parameters)) return { args: value }
  try {
    const result = await validated(parameters, value)
    return result.issues === undefined ? { args: result.value } : { problem: issuesText(result.issues) }
  } catch (error) {
    // A refinement of the product's that throws says as much as one that refuses.
    return { problem: errorOf(error).message }
  }
}

interface ToolIdentity {
  name: string
  effect: Effect
  captureContent?: boolean
  /** Whether what it gives is a promise of its own. */
  fresh: boolean
}

function frameFor({ captureContent }: { captureContent?: boolean }): Frame | undefined {
  const frame = currentFrame()
  return captureContent === undefined ? frame : { ...frame, agents: frame?.agents ?? [], captureContent }
}

/** `written`: the model's arguments where they are known; else they are looked up in its last message. */
function run<Result>(
  recorder: Recorder,
  tool: ToolIdentity,
  args: unknown,
  callId: string | undefined,
  written: Json | undefined,
  execute: () => Result,
): Result {
  const frame = frameFor(tool)
  const begun = recorder.guard(
    () => ({
      span: begin(recorder, frame, tool),
      claim: claimCall(frame, tool.name, callId, written ?? args),
    }),
    undefined,
  )
  if (begun === undefined) return execute()
  const { span, claim } = begun
  const inner: Frame = {
    ...frame,
    agents: frame?.agents ?? [],
    within: {},
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.hostSpan === undefined ? {} : { hostSpan: span.hostSpan }),
  }
  const seam = frame?.replay?.seam
  let served: ReturnType<typeof serveCall> | undefined
  let looked = false
  const serve = () => {
    if (!looked) served = recorder.guard(() => serveCall(claim), undefined)
    looked = true
    return served
  }
  const outcome = spanOutcome(recorder, span, inner, (result) => {
    const call = serve()
    fill(recorder, span, claim.callId ?? call?.callId, written ?? call?.arguments ?? claim.given, result)
  })
  if (frame?.replay === undefined || seam?.tool === undefined) return observe(execute, outcome, tool.fresh)
  const answered = async (): Promise<Json | undefined> => {
    frame.replay?.signal?.throwIfAborted()
    const call = serve()
    const asked: SeamToolCall = {
      name: tool.name,
      arguments: recorder.redacted(written ?? call?.arguments ?? claim.given ?? null, 'tool.arguments'),
      callId: claim.callId ?? call?.callId,
      effect: tool.effect,
      agents: frame.agents,
      live: async () => wholeValue(await outcome.enter(async () => await gather(await execute()))),
    }
    try {
      return await seam.tool?.(asked)
    } finally {
      if (asked.offTape !== undefined) span.attributes[homeground.replayOffTape] = asked.offTape
    }
  }
  // A replay answers with a promise of what was recorded; a tool that is not asynchronous cannot be replayed as such.
  return observe(answered as () => Result, { ...outcome, enter: (part) => part() }, true)
}

function begin(recorder: Recorder, frame: Frame | undefined, tool: { name: string; effect: Effect }): OpenSpan {
  const span = recorder.start(`${operation.executeTool} ${tool.name}`, spanKind.internal, frame)
  span.attributes[genAi.operationName] = operation.executeTool
  span.attributes[genAi.toolName] = tool.name
  span.attributes[genAi.toolType] = 'function'
  span.attributes[homeground.toolEffect] = tool.effect
  return span
}

function fill(recorder: Recorder, span: OpenSpan, callId: string | undefined, args: Json | undefined, result: string | undefined): void {
  if (callId !== undefined) span.attributes[genAi.toolCallId] = callId
  if (!recorder.capturesContent(span.frame)) return
  if (args !== undefined) span.attributes[genAi.toolCallArguments] = boundedText(args)
  if (result !== undefined) span.attributes[genAi.toolCallResult] = result
}

/** Undefined where it cannot be read: what else the caller passes is the product's. */
function callIdOf(context: unknown): string | undefined {
  try {
    return passedCallId(context)
  } catch {
    return undefined
  }
}

/** The id as frameworks pass it: Vercel AI (`toolCallId`), LangChain (`toolCall.id`), OpenAI Agents (`toolCall.callId`), ours (`callId`). */
function passedCallId(context: unknown): string | undefined {
  if (typeof context !== 'object' || context === null) return undefined
  for (const key of ['callId', 'toolCallId'] as const) {
    const id: unknown = Reflect.get(context, key)
    if (typeof id === 'string') return id
  }
  const call: unknown = Reflect.get(context, 'toolCall')
  if (typeof call !== 'object' || call === null) return undefined
  const id: unknown = Reflect.get(call, 'callId') ?? Reflect.get(call, 'id')
  return typeof id === 'string' ? id : undefined
}
