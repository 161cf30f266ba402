// The two scripted models behind an OpenAI-compatible address: what the desk talks to where there is no real model.
import { type ModelAnswer, type ModelServer, type RecordedRequest, startModelServer } from '@homeground/sdk/testing'
import { expert, type Move } from './expert.ts'
import { novice } from './novice.ts'
import { type Conversation, readConversation } from './reading.ts'

export const deskModels: Readonly<Record<string, (conversation: Conversation) => Move>> = { 'desk-expert': expert, 'desk-novice': novice }

/** Serves `desk-expert` and `desk-novice`. The same conversation gets the same answer. `port`: 0 takes a free one. */
export function startDeskModels(options: { port?: number } = {}): Promise<ModelServer> {
  return startModelServer({ policy: answer, port: options.port ?? 0 })
}

function answer(request: RecordedRequest): ModelAnswer {
  const name = String(request.body['model'])
  const model = deskModels[name]
  if (model === undefined) {
    const message = `no model ${name} here; there are ${Object.keys(deskModels).join(' and ')}`
    return { status: 404, body: { error: { message, type: 'invalid_request_error', code: 'model_not_found' } } }
  }
  const move = model(readConversation(request.body))
  if ('says' in move) return move.says
  return { content: null, toolCalls: move.calls }
}
