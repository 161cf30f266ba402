// The contract of a wire dialect: one file an API reads its bodies into the canonical form and writes them back. Pure; never throws on a vendor's body, reads it laxly.
import type { Json, ModelCall, ModelRequest, ModelResponse } from '../episode.ts'

/** How one API is read and written. */
export interface Dialect {
  /** `openai.chat`, `openai.responses`, `anthropic.messages`. */
  readonly api: string
  /** The provider assumed where the host name does not tell, e.g. `openai`. */
  readonly provider: string
  /** True for the path of a request in this dialect, e.g. `/v1/chat/completions`. */
  matchesPath(path: string): boolean
  readRequest(body: Json): CanonicalRequest
  /** Reads an unstreamed (or assembled) response body; `undefined` where it is none (an error's body, a proxy's text). */
  readResponse(body: Json): ModelResponse | undefined
  /** Token ids and log-probabilities, where the response body carries them. */
  readTokens?(body: Json): ModelCall['tokens']
  /** canonical -> dialect; parse(format(x)) = x for what the dialect can say. */
  writeRequest(request: CanonicalRequest, options?: { provider?: string }): { [key: string]: Json }
  writeResponse(response: ModelResponse, options?: { model?: string }): { [key: string]: Json }
  /** The unstreamed body, as the events of a stream in this dialect (each one `data:` payload, without framing). */
  writeStream(body: Json): StreamEvent[]
  assembler(): StreamAssembler
}

/** A request in the canonical form, with its model. */
export interface CanonicalRequest extends ModelRequest {
  model: string
}

/** One server-sent event of a stream. */
export interface StreamEvent {
  event?: string
  data: string
}

/** Puts a stream together again: fed each event's payload in order, gives the body that the unstreamed call would have had. */
export interface StreamAssembler {
  /** `data` is the payload of one server-sent event (all its `data:` lines joined by \n). Never throws. */
  add(data: string, event?: string): void
  /** Takes events of a stream's text at once, as `readServerSentEvents` asks for. */
  readonly addRun?: (stream: string, start: number) => number
  /** The body so far; `undefined` where nothing usable came. */
  body(): { [key: string]: Json } | undefined
  /** True once the terminal marker, or a finish reason for every choice, has come, and every event until then could be read. */
  readonly complete: boolean
  /** Set by an error event in the stream. */
  readonly error: { type: string; message: string } | undefined
}
