// Conversations in OpenAI's chat messages, one a line: `{ messages, tools? }` as fine-tuning files have them, with id, session, user, metadata, reward and feedback where they are known.
import { canonicalHash, defaultProject, type FeedbackRow, isJson, type Json, parseInput, sha256Hex } from '@homeground/sdk/trace'
import { z } from 'zod'
import { chatMessage } from './chat-message.ts'
import { conversationRows } from './conversation-rows.ts'
import { readRecords } from './read-records.ts'
import type { ImportedTrace, Importer, ImportSettings } from './types.ts'

const score = z.union([z.number(), z.boolean(), z.string()])
const lineSchema = z.looseObject({
  messages: z
    .array(chatMessage)
    .min(1)
    .refine((messages) => messages.some((message) => message['role'] === 'assistant'), 'expected at least one assistant message'),
  // Tables that were written by Arrow say null for what is absent.
  tools: z.array(z.custom<Json>(isJson)).nullish(),
  id: z.union([z.string(), z.number()]).nullish(),
  session: z.string().nullish(),
  user: z.string().nullish(),
  model: z.string().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  reward: z.number().nullish(),
  feedback: z.record(z.string(), score).nullish(),
})
type Line = z.output<typeof lineSchema>

export const openaiMessages: Importer = {
  format: 'openai-messages',
  summary: 'chat conversations as OpenAI fine-tuning files hold them',
  async *read(file, settings) {
    // The same conversation twice is two episodes; the same file twice is not.
    const seen = new Map<string, number>()
    for await (const { value, place } of readRecords(file)) {
      const line = parseInput(lineSchema, value, { place, what: 'a conversation { messages: [{ role, content }] }' })
      const key = line.id === undefined || line.id === null ? canonicalHash(value as Json) : String(line.id)
      const times = (seen.get(key) ?? 0) + 1
      seen.set(key, times)
      yield trace(line, sha256Hex(`openai-messages ${key} ${times}`).slice(0, 32), settings)
    }
  },
}

/** Files carry no times: conversations stand an hour apart within a year, placed by their id. */
const epochMs = Date.UTC(2025, 0, 1)

function trace(line: Line, traceId: string, settings: ImportSettings): ImportedTrace {
  const startMs = epochMs + (Number.parseInt(traceId.slice(0, 6), 16) % 8760) * 3_600_000
  const project = settings.project ?? defaultProject
  const own = settings.tools.map(({ definition }): Json => definition)
  const rows = conversationRows({
    project,
    traceId,
    agentName: 'imported',
    session: line.session ?? traceId,
    user: line.user ?? '',
    tags: Object.fromEntries(
      Object.entries(line.metadata ?? {}).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    ),
    model: line.model ?? settings.model ?? 'unknown',
    messages: line.messages,
    tools: line.tools !== undefined && line.tools !== null && line.tools.length > 0 ? line.tools : own,
    effects: new Map(settings.tools.map(({ name, effect }) => [name, effect])),
    startTimeUnixNano: BigInt(startMs) * 1_000_000n,
    input: '',
    source: { ref: String(line.id ?? ''), task: '', repeat: -1 },
  })
  const feedback = { ...line.feedback, ...(typeof line.reward === 'number' ? { reward: line.reward } : {}) }
  const at = new Date(startMs).toISOString()
  return {
    rows,
    feedback: Object.entries(feedback).map(
      ([name, value]): FeedbackRow => ({ project, traceId, stepId: '', name, value, comment: '', source: 'import', at }),
    ),
  }
}
