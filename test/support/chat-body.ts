import type { RecordedRequest } from '@homeground/sdk/testing'

/** What tests read of a chat completion's request. */
export interface ChatBody {
  model?: string
  temperature?: number
  messages: { role: string; content?: string; tool_calls?: { function: { name: string } }[] }[]
}

/** Of a request to the model server as a chat client sent it. The server takes any JSON; these products send no other. */
export function chatBody({ body }: RecordedRequest): ChatBody {
  return body as unknown as ChatBody
}
