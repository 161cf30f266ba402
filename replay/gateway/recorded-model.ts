// The arm `recorded`: answers with what the recording says, so that a task can be played against itself.
import { dialectOf, type ModelCall } from '@homeground/sdk/trace'
import { errorBody } from './http-answer.ts'
import type { GatewayAnswer, GatewayRequest, ModelSource } from './types.ts'

/** Recorded calls of one lane, in order. */
export interface RecordedLane {
  lane: string | undefined
  calls: readonly ModelCall[]
}

/**
 * The k-th call of a lane gets the k-th recorded answer; of calls made at the same time, each gets that of the recorded call with the same
 * messages, if one is left. A call beyond the recording gets status 410.
 */
export function recordedModel(lanes: readonly RecordedLane[]): ModelSource {
  const left = new Map(lanes.map(({ lane, calls }) => [lane, [...calls]]))
  return {
    async answer(request) {
      const calls = left.get(request.lane) ?? []
      const call = takeCall(calls, request)
      return call === undefined ? beyond(request) : answerOf(call, request)
    },
  }
}

/** How far ahead to look for the recorded twin of one of several calls made at once. */
const lookAhead = 16

function takeCall(calls: ModelCall[], request: GatewayRequest): ModelCall | undefined {
  if (calls.length < 2) return calls.shift()
  const asked = dialectOf(request.api)?.readRequest(request.body).messages
  const text = JSON.stringify(asked)
  const index = calls
    .slice(0, lookAhead)
    .findIndex((call) => call.request.messages.length === asked?.length && JSON.stringify(call.request.messages) === text)
  return calls.splice(Math.max(0, index), 1)[0]
}

function answerOf(call: ModelCall, request: GatewayRequest): GatewayAnswer {
  const base = { provider: call.provider, model: call.model, attempts: 1, untranslated: [], recordedMs: call.durationMs }
  if (call.response === undefined) {
    const error = call.error ?? { type: 'error', message: 'the recording has no answer for this call: it was cut' }
    const status = /^[45]\d\d$/.test(error.type) ? Number(error.type) : 502
    return { ...base, status, body: errorBody(request.api, error.type, error.message) }
  }
  const body = dialectOf(request.api)?.writeResponse(call.response, { model: call.model }) ?? {}
  return { ...base, status: 200, body, response: call.response }
}

function beyond(request: GatewayRequest): GatewayAnswer {
  const message = 'the recording has no further model call'
  return {
    status: 410,
    provider: 'recorded',
    model: 'recorded',
    attempts: 1,
    untranslated: [],
    body: errorBody(request.api, 'beyond-recording', message),
  }
}
