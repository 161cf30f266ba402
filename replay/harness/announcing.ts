// Tells the tape what each model message asks for, in its order, before any of its calls arrives.

import { toolCallsOf } from '../environment/conversation.ts'
import type { ModelSource } from '../gateway/types.ts'
import type { Tape } from '../tape/tape.ts'

export function announcing(source: ModelSource, tape: Tape): ModelSource {
  return {
    async answer(request) {
      const answer = await source.answer(request)
      const lane = request.lane === undefined ? {} : { lane: request.lane }
      const calls = toolCallsOf(answer.response?.outputs[0]).map((call) => ({
        name: call.name,
        arguments: call.arguments,
        ...(call.id === undefined ? {} : { callId: call.id }),
        ...lane,
      }))
      tape.announce(calls, request.lane)
      return answer
    },
  }
}
