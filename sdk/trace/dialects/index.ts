// The wire dialects that Homeground reads and writes, by name and by request path.
import type { Dialect } from './dialect.ts'
import { openaiChat } from './openai-chat.ts'

/** A dialect without its stream assembler, which capture takes from its own file. */
export type WireDialect = Omit<Dialect, 'assembler'>

const dialects: readonly WireDialect[] = [openaiChat]

/** By name: `openai.chat`. */
export function dialectOf(api: string): WireDialect | undefined {
  return dialects.find((dialect) => dialect.api === api)
}

/** By the path of the request's URL: `/v1/chat/completions`. */
export function dialectForPath(path: string): WireDialect | undefined {
  return dialects.find((dialect) => dialect.matchesPath(path))
}
