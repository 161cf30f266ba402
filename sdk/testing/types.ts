// What the testing entry promises: a model server that is told what to answer, and an exporter that keeps what it gets.
import type http from 'node:http'
import type { Json } from '../trace/episode.ts'

export interface ModelServerOptions {
  /** Asked with every request; may be asynchronous. Wins over `script`. */
  policy?: (request: RecordedRequest) => ModelAnswer | Promise<ModelAnswer>
  /** Answers in order; a request after the last one gets a 500 that says so. */
  script?: readonly ModelAnswer[]
  /** @default a free one */
  port?: number
  /** Before the answer's first byte. @default 0 */
  delayMs?: number
  /** Between two chunks of a stream. @default the next turn of the event loop */
  chunkDelayMs?: number
}

export interface ModelServer extends AsyncDisposable {
  /** Base URL for an OpenAI client: ends with `/v1`. */
  readonly url: string
  /** Every model request so far, in order of arrival. */
  readonly requests: readonly RecordedRequest[]
  /** Breaks open connections and resolves when the port is free. */
  close(): Promise<void>
}

export interface RecordedRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly headers: http.IncomingHttpHeaders
  /** The body as it came. */
  readonly text: string
  /** The body parsed; `{}` where it is no JSON object. */
  readonly body: { readonly [key: string]: unknown }
}

/** A text, an answer with tool calls, several choices, or an HTTP answer as it is (errors). */
export type ModelAnswer = string | ModelMessage | { choices: readonly (string | ModelMessage)[]; usage?: ModelUsage } | HttpAnswer

export interface ModelMessage {
  content?: string | null
  toolCalls?: readonly { id?: string; name: string; arguments: Json }[]
  /** @default `tool_calls` with tool calls, else `stop` */
  finishReason?: string
  /** @default counted from the text: four characters a token */
  usage?: ModelUsage
}

export interface ModelUsage {
  inputTokens: number
  outputTokens: number
}

export interface HttpAnswer {
  status: number
  body: unknown
  headers?: Record<string, string>
}
