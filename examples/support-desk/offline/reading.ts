// What the scripted models read out of a conversation: the customer's wish, the order meant, and what the tools have answered so far.
import { z } from 'zod'

const callSchema = z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) })
const messageSchema = z.looseObject({
  role: z.string(),
  content: z
    .union([z.string(), z.null(), z.array(z.looseObject({ text: z.string().optional() }))])
    .optional()
    .transform((content) => (Array.isArray(content) ? content.map((part) => part.text ?? '').join('') : (content ?? ''))),
  tool_calls: z.array(callSchema).optional(),
  tool_call_id: z.string().optional(),
})
const requestSchema = z.looseObject({ messages: z.array(messageSchema) })

const orderSchema = z.looseObject({
  order_id: z.string(),
  item: z.string(),
  price_eur: z.number(),
  status: z.string(),
  ordered_days_ago: z.number().optional(),
  delivered_days_ago: z.number().optional(),
  final_sale: z.boolean().optional(),
})
export type SeenOrder = z.infer<typeof orderSchema>

export interface ToolAnswer {
  name: string
  arguments: Record<string, unknown>
  /** Parsed where it is JSON. */
  result: unknown
  failed: boolean
}

export type Wish = 'refund' | 'address' | 'status' | 'policy' | 'thanks' | 'unclear'

/** One conversation as the scripted models see it. */
export interface Conversation {
  instructions: string
  /** The customer's texts, oldest first; the last is the one to answer. */
  customer: string[]
  last: string
  /** What the tools answered since the customer's last message. */
  answers: ToolAnswer[]
}

/** @throws ZodError when the body is no chat request */
export function readConversation(body: unknown): Conversation {
  const { messages } = requestSchema.parse(body)
  const instructions = messages
    .filter((message) => message.role === 'system' || message.role === 'developer')
    .map((message) => message.content)
    .join('\n')
  const customer = messages.filter((message) => message.role === 'user').map((message) => message.content)
  const sinceLast = messages.slice(messages.findLastIndex((message) => message.role === 'user') + 1)
  const calls = new Map(sinceLast.flatMap((message) => (message.tool_calls ?? []).map((call) => [call.id, call.function] as const)))
  return {
    instructions,
    customer,
    last: customer.at(-1) ?? '',
    answers: sinceLast
      .filter((message) => message.role === 'tool')
      .map((message) => {
        const call = calls.get(message.tool_call_id ?? '')
        const result = parseJson(message.content)
        return {
          name: call?.name ?? '',
          arguments: record(parseJson(call?.arguments ?? '{}')),
          result,
          failed: /^error/i.test(message.content) || 'error' in record(result),
        }
      }),
  }
}

/** What one text asks for. The order of the tests matters: "refund" beats "where is", an address beats both. */
export function wishOf(text: string): Wish {
  if (addressIn(text) !== undefined || /\baddress\b/i.test(text)) return 'address'
  if (
    /\b(how long|how many days|your policy|do you (accept|allow)|shipping (cost|free))\b/i.test(text) &&
    orderNumberIn(text) === undefined
  )
    return 'policy'
  if (/\b(refund|money back|return it|return the|send (it|them) back|reimburse)\b/i.test(text) || isFaulty(text)) return 'refund'
  if (/\b(where is|status|when will|arrive|track|has it shipped|has not come)\b/i.test(text)) return 'status'
  if (/\b(thanks|thank you|cheers|great)\b/i.test(text)) return 'thanks'
  return 'unclear'
}

export function isDamaged(text: string): boolean {
  return /\b(damaged|broken|cracked|torn|smashed|faulty|shattered|in pieces)\b/i.test(text)
}

export function isWrongItem(text: string): boolean {
  return /\b(wrong (item|thing|one|colour)|not what I ordered)\b/i.test(text)
}

function isFaulty(text: string): boolean {
  return isDamaged(text) || isWrongItem(text)
}

export function orderNumberIn(text: string): string | undefined {
  return /\b\d{4}\b/.exec(text)?.[0]
}

/** `12 Mill Lane, Leeds` in a sentence. */
export function addressIn(text: string): string | undefined {
  return /\b\d{1,3} [A-Z][a-z]+ (?:Lane|Street|Road|Avenue|Square)(?:, [A-Z][a-z]+)?/.exec(text)?.[0]
}

/** The orders among a tool's answer: one, or a list. */
export function ordersIn(answer: ToolAnswer | undefined): SeenOrder[] {
  const result = answer?.result
  const candidates: unknown[] = Array.isArray(result) ? result : [result]
  return candidates.flatMap((candidate) => {
    const parsed = orderSchema.safeParse(candidate)
    return parsed.success ? [parsed.data] : []
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value)) : {}
}
