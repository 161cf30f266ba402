// What the testing entry promises: a model server that is told what to answer, and an exporter that keeps what it gets.
import type http from 'node:http'
import type { Json, Message } from '../trace/episode.ts'

/** What the model server answers, and when. */
export interface ModelServerOptions {
  /** Asked with every request; may be asynchronous. Wins over `script`. Where it throws the client gets a 400 with its error. */
  policy?: (request: RecordedRequest) => ModelAnswer | Promise<ModelAnswer>
  /** Answers in order; a request after the last one gets a 400 that says so. */
  script?: readonly ModelAnswer[]
  /** @default a free one */
  port?: number
  /** Before each answer's first byte, in ms. @default 0 */
  delayMs?: number
  /** Between two chunks of a stream, in ms. @default the next turn of the event loop */
  chunkDelayMs?: number
}

/** A running model server. */
export interface ModelServer extends AsyncDisposable {
  /** Base URL for an OpenAI client: ends with `/v1`. */
  readonly url: string
  /** Base URL for an Anthropic client, which adds `/v1` itself: without a path. */
  readonly origin: string
  /** Every model request so far, in order of arrival. */
  readonly requests: readonly RecordedRequest[]
  /** Breaks open connections and resolves when the port is free. */
  close(): Promise<void>
}

/** A request that the model server was sent. */
export interface RecordedRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly headers: http.IncomingHttpHeaders
  /** The body as it came. */
  readonly text: string
  /** The body parsed; `{}` where it is no JSON object. */
  readonly body: { readonly [key: string]: unknown }
  /** `openai.chat`, `openai.responses` or `anthropic.messages`. */
  readonly api: string
  /** The conversation, read the same from every dialect. System instructions are its first message. */
  readonly messages: readonly Message[]
}

/** What the model says, or how the server fails. */
export type ModelAnswer = PlainAnswer | TimedAnswer | ErrorAnswer | HttpAnswer

/** A text, a message with tool calls, or several choices (of which dialects other than `openai.chat` send the first). */
export type PlainAnswer = string | ModelMessage | { choices: readonly (string | ModelMessage)[]; usage?: ModelUsage }

/** The model's message. */
export interface ModelMessage {
  content?: string | null
  /** What a reasoning model thought before. */
  reasoning?: string
  /** `arguments` that are a string are sent as they are: so a model writes bad JSON. */
  toolCalls?: readonly { id?: string; name: string; arguments: Json }[]
  /** In the words of chat completions, for every dialect. @default `tool_calls` with tool calls, else `stop` */
  finishReason?: string
  /** @default counted from the text: four characters a token */
  usage?: ModelUsage
}

/** Tokens that an answer is said to have cost. */
export interface ModelUsage {
  inputTokens: number
  outputTokens: number
}

/** An answer with a time or a fault of its own. Counts are of a stream's events; an unstreamed body is cut, spoilt or held in its middle. */
export interface TimedAnswer {
  answer: PlainAnswer
  /** Before the first byte, in ms. @default the server's */
  delayMs?: number
  /** Between two chunks of a stream, in ms. @default the server's */
  chunkDelayMs?: number
  /** The connection breaks after so many events. */
  cutAfter?: number
  /** After so many events comes one that is no JSON; the stream goes on. */
  malformedAfter?: number
  /** After so many events nothing comes any more, until the client leaves. */
  stallAfter?: number
}

/** An error in the shape of the request's dialect. */
export interface ErrorAnswer {
  /** HTTP status: 429, 500, … */
  error: number
  message?: string
  /** Sent as `Retry-After`. */
  retryAfterSeconds?: number
}

/** An HTTP answer as it is. */
export interface HttpAnswer {
  status: number
  body: unknown
  headers?: Record<string, string>
}
