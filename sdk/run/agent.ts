// hg.agent: the whole agent as one span, above all that it does.
import { types } from 'node:util'
import { genAi, homeground, operation } from '../trace/attributes.ts'
import type { Attributes } from '../trace/span.ts'
import { currentFrame, type Frame } from './context.ts'
import { errorOf } from './error-of.ts'
import { isHandle } from './handle.ts'
import { jsonText } from './json-value.ts'
import { likeGiven, observe } from './observe.ts'
import { spanKind } from './open-span.ts'
import { type Outcome, spanOutcome } from './outcome.ts'
import type { Recorder } from './recorder.ts'
import { type SessionOptions, sessionFields } from './session.ts'
import { follower, isSettling } from './settling-promise.ts'
import { warnHost } from './warn-host.ts'

/** What `hg.agent` may be told beside the function. */
export interface AgentOptions<Args extends unknown[]> {
  version?: string
  /** Who it runs for; a function is asked with the agent's arguments. Wins over `hg.session`. */
  session?: SessionOptions | ((...args: Args) => SessionOptions | undefined)
  /** False: no bodies, arguments and results are recorded beneath it. @default the instance's */
  captureContent?: boolean
}

/** The agent function, recording. Arguments, result, errors and `this` pass through untouched; the agents inside run in lanes of their own. */
export function recordAgent<Args extends unknown[], Result>(
  recorder: Recorder,
  name: string,
  fn: (...args: Args) => Result,
  options: AgentOptions<Args>,
): (...args: Args) => Result {
  const fresh = types.isAsyncFunction(fn)
  const told = recorder.guard(() => read(options), {})
  function agent(this: unknown, ...args: Args): Result {
    const call = (): Result => Reflect.apply(fn, this, args)
    const outcome = recorder.guard(() => begin(recorder, name, args, told), undefined)
    return outcome === undefined ? call() : observe(call, outcome, fresh)
  }
  return recorder.guard(() => likeGiven(agent, fn), agent)
}

/** Here, once: products in JavaScript give null. */
function read<Args extends unknown[]>(options: AgentOptions<Args> | null): AgentOptions<Args> {
  const { version, session, captureContent } = options ?? {}
  return {
    ...(typeof version === 'string' ? { version } : {}),
    ...(session === undefined ? {} : { session }),
    ...(typeof captureContent === 'boolean' ? { captureContent } : {}),
  }
}

/** What may fail comes before the span begins: it would stay open. */
function begin<Args extends unknown[]>(recorder: Recorder, name: string, args: Args, options: AgentOptions<Args>): Outcome {
  const session = sessionOf(recorder, name, args, options.session)
  const span = recorder.start(`${operation.invokeAgent} ${name}`, spanKind.internal)
  const above = span.frame
  const { within: _, ...around } = above ?? {}
  const frame: Frame = {
    ...around,
    traceId: span.traceId,
    spanId: span.spanId,
    agents: [...(above?.agents ?? []), name],
    run: { variants: { ...above?.run?.variants } },
    ...session,
    ...(options.captureContent === undefined ? {} : { captureContent: options.captureContent }),
    ...(span.hostSpan === undefined ? {} : { hostSpan: span.hostSpan }),
  }
  span.frame = frame
  span.attributes[genAi.operationName] = operation.invokeAgent
  span.attributes[genAi.agentName] = name
  if (options.version !== undefined) span.attributes[genAi.agentVersion] = options.version
  // Now, not at the end: an agent appends to the very messages that it was given.
  if (recorder.capturesContent(frame)) noteInput(span.attributes, args.slice(0, countOfSaid(args)))
  return spanOutcome(recorder, span, frame, (output) => {
    if (output !== undefined) span.attributes[homeground.agentOutput] = output
  })
}

function noteInput(attributes: Attributes, args: readonly unknown[]): void {
  const input = args.length === 0 ? undefined : jsonText(args.length === 1 ? args[0] : args)
  if (input !== undefined) attributes[homeground.agentInput] = input
  if (args.length !== 1) attributes[homeground.agentArguments] = args.length
}

/** Without the callbacks, streams and signals at the end: no replay could give them again, and a response drags its request's headers along. */
function countOfSaid(args: readonly unknown[]): number {
  let count = args.length
  while (count > 1 && isHandle(args[count - 1])) count -= 1
  return count
}

/** Without one where the product's function for it fails: the agent is what its caller waits for. */
function sessionOf<Args extends unknown[]>(recorder: Recorder, name: string, args: Args, session: AgentOptions<Args>['session']) {
  try {
    const given = typeof session === 'function' ? session(...args) : session
    if (!isSettling(given)) return sessionFields(recorder, given, currentFrame())
    const unread = (): void => undefined
    void follower(false, unread, unread)(given)
    throw new TypeError('a promise')
  } catch (error) {
    recorder.failed(error)
    const { type } = errorOf(error)
    warnHost(
      recorder,
      `the session of agent ${name} cannot be read (${type}), and its runs are recorded without one. It is { id, user, tags }, given at once, not as a promise.`,
    )
    return {}
  }
}
