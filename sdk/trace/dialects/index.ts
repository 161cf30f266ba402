// The wire dialects that Homeground reads and writes, by name and by request path.
import { anthropicMessages } from './anthropic-messages.ts'
import type { Dialect } from './dialect.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'

const dialects: readonly Dialect[] = [openaiChat, openaiResponses, anthropicMessages]

/** By name: `openai.chat`. */
export function dialectOf(api: string): Dialect | undefined {
  return dialects.find((dialect) => dialect.api === api)
}

/** By the path of the request's URL: `/v1/chat/completions`. */
export function dialectForPath(path: string): Dialect | undefined {
  return dialects.find((dialect) => dialect.matchesPath(path))
}
