// The gateway: where a rollout's model calls go. In the dialect that the product speaks, whatever the arm's endpoint speaks.
import type { Json, ModelCall, ModelResponse } from '@homeground/sdk/trace'

/** A model call of a rollout, as the product's client was about to send it. */
export interface GatewayRequest {
  /** The client's dialect, e.g. `openai.chat`. */
  api: string
  body: { [key: string]: Json }
  /** Name of the sub-agent; absent = the main agent. */
  lane?: string
  signal?: AbortSignal
}

/** What the client gets: an HTTP response in its dialect. */
export interface GatewayAnswer {
  status: number
  /** The unstreamed body, also where the client asked for a stream. */
  body: { [key: string]: Json }
  /** The body in canonical form, in the endpoint's words; absent for an error. */
  response?: ModelResponse
  /** The provider whose dialect the endpoint speaks, and its name for the model. */
  provider: string
  model: string
  /** Token ids and log-probabilities, where the endpoint gives them. */
  tokens?: NonNullable<ModelCall['tokens']>
  /** HTTP attempts made. */
  attempts: number
  /** It came out of the cache: the endpoint was not asked. */
  cached?: true
  /** How long the recorded call took; absent for a live one. */
  recordedMs?: number
  /** What of the request or response could not be said in the other dialect; never dropped in silence. */
  untranslated: string[]
}

/** Answers one rollout's model calls. Rejects only when the signal is aborted: an endpoint that fails is an answer with its status. */
export interface ModelSource {
  answer(request: GatewayRequest): Promise<GatewayAnswer>
}
