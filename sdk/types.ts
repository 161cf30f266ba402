// What a product gets and calls.
import type { Fetch } from './capture/recording-fetch.ts'
import type { AgentOptions } from './run/agent.ts'
import type { FeedbackOptions } from './run/feedback.ts'
import type { CarriedRun } from './run/hand-over.ts'
import type { HostSpanProcessor, HostSpanProcessorOptions } from './run/host-span-processor.ts'
import type { SessionOptions } from './run/session.ts'
import type { ArgumentsOf, JsonSchema, StandardSchema } from './run/standard-schema.ts'
import type { Stats } from './run/stats.ts'
import type { Tool, ToolOptions } from './run/tool.ts'
import type { ToolAnswer, ToolCallLike } from './run/tool-call.ts'
import type { ToolDefinitions } from './run/tool-registry.ts'
import type { Json } from './trace/episode.ts'

/** What `homeground()` gives. Nothing of it throws into the product or waits for the collector, but where its comment says so. */
export interface Homeground {
  /** True unless switched off. */
  readonly enabled: boolean
  /** Makes a vendor's client (openai, @anthropic-ai/sdk, …) record its calls. Returns the same client. */
  wrap<Client extends object>(client: Client): Client
  /** The global fetch, recording calls to known model endpoints: for clients that take a `fetch` option. */
  readonly fetch: Fetch
  /** The agent function, recording: one call of it is one episode. */
  agent<Args extends unknown[], Result>(
    name: string,
    fn: (...args: Args) => Result,
    options?: AgentOptions<Args>,
  ): (...args: Args) => Result
  /** A function that the model may call. @throws HomegroundError invalid-argument where it has no name or function, or an effect that is none, or its parameters can give no JSON Schema */
  tool<Parameters extends StandardSchema | JsonSchema, Context extends unknown[], Result>(
    options: ToolOptions<Parameters, Context, Result>,
  ): Tool<ArgumentsOf<Parameters>, Context, Result>
  /** Serves a tool call of a model's message by the tool of its name, the last where several have it: those are called by their own `call`. Bad arguments, unknown tools and errors become text for the model. */
  callTool(call: ToolCallLike): Promise<ToolAnswer>
  /** Definitions of the tools made so far, for a request's `tools`; `names` picks some. @throws HomegroundError invalid-argument for an unknown name */
  readonly toolDefinitions: ToolDefinitions
  /** Reads what the model did not ask for; rejects as `fn` does. */
  io<Result>(name: string, fn: () => Result | Promise<Result>, options?: { key?: unknown; captureContent?: boolean }): Promise<Result>
  /** Milliseconds since the epoch, recorded, so that a replay can give the same again. */
  now(): number
  /** A number in [0, 1), recorded. */
  random(): number
  /**
   * The value of what is under test (a prompt, a model, a switch): the canary's for its share of sessions (`variants`), else `otherwise`; in a replay the arm's, else `otherwise`.
   * Ask inside the run, each time: its spans say which value it was (the last, where a name is asked for again). Outside a run nothing says it,
   * and a canary is drawn anew by each call unless `hg.session` names the session.
   */
  variant<Value extends Json>(name: string, otherwise: Value): Value
  /** Everything that `fn` starts belongs to this session. */
  session<Result>(session: SessionOptions, fn: () => Result): Result
  /** With `false`: nothing that `fn` starts has its bodies, arguments and results recorded. For one call, or a part of a run. */
  captureContent<Result>(capture: boolean, fn: () => Result): Result
  /**
   * The trace id of the run that this is called in, to give feedback later: ask inside `hg.agent` and return it with the answer.
   * Outside a run it is that of the host's active OpenTelemetry span, else `undefined`: a model call under no agent makes a trace of its own.
   */
  trace(): string | undefined
  /** The run that this is called in, as plain data: for a worker thread or a queue, where the context does not reach. */
  carry(): CarriedRun | undefined
  /** Everything that `fn` starts belongs to a run that was carried here. */
  resume<Result>(carried: CarriedRun | undefined, fn: () => Result): Result
  /** What somebody thought of a run; without `trace` of the one that this is called in. Of an episode that `sample` leaves out it is left out too. */
  feedback(name: string, value: number | boolean | string, options?: FeedbackOptions): void
  /** For a tracer provider of the product's own: GenAI spans of other instrumentations go to the same place, under the same runs. */
  spanProcessor(options?: HostSpanProcessorOptions): HostSpanProcessor
  /** Sends what is waiting. True when all of it was delivered within the time. @default 10000 ms */
  flush(timeoutMs?: number): Promise<boolean>
  /** Flushes and stops; what runs afterwards passes through unrecorded. */
  shutdown(timeoutMs?: number): Promise<void>
  /** What the SDK has done so far, in numbers. */
  stats(): Stats
}
