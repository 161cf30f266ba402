// The desk's agent: reads what it needs to know, then lets the model talk and use tools until it has an answer for the customer.
import type { Homeground } from '@homeground/sdk'
import type OpenAI from 'openai'
import { defaultPrompt, systemMessage } from './prompt.ts'
import type { Sessions } from './sessions.ts'
import type { Shop } from './shop.ts'
import { deskTools } from './tools.ts'

export interface DeskQuestion {
  session: string
  customer: string
  message: string
}

/** Answers one message of a customer. */
export type DeskAgent = (question: DeskQuestion) => Promise<string>

export interface AgentParts {
  hg: Homeground
  client: OpenAI
  model: string
  shop: Shop
  sessions: Sessions
  /** Model calls for one message. @default 8 */
  maxSteps?: number
}

/** What the customer reads when the model does not come to an end. */
export const handover = 'I could not settle this. A colleague looks into it and writes to you within one working day.'

/** @throws what the model's client throws; Error when it gives no answer */
export function createAgent({ hg, client, model, shop, sessions, maxSteps = 8 }: AgentParts): DeskAgent {
  const tools = deskTools(hg, shop)
  const serve = (call: OpenAI.ChatCompletionMessageToolCall, customer: string) => {
    const name = call.type === 'function' ? call.function.name : call.custom.name
    const tool = Object.values(tools).find((each) => each.name === name)
    return tool === undefined ? hg.callTool(call) : tool.call(call, customer)
  }

  const answer = async ({ session, customer, message }: DeskQuestion): Promise<string> => {
    sessions.answering(session, hg.trace())
    // What the product reads without the model asking: recorded, so that a replay reads the same.
    const [profile, history, today] = await Promise.all([
      hg.io('customer', () => shop.customer(customer), { key: customer }),
      hg.io('history', () => sessions.history(session), { key: session }),
      hg.io('today', () => shop.today()),
    ])
    const prompt = hg.variant('prompt', defaultPrompt)
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'system', content: systemMessage(prompt, { customer: profile, today }) },
      ...history,
      { role: 'user', content: message },
    ]
    for (let step = 0; step < maxSteps; step += 1) {
      const completion = await client.chat.completions.create({ model, messages, tools: hg.toolDefinitions(), temperature: 0 })
      const reply = completion.choices[0]?.message
      if (reply === undefined) throw new Error('the model gave no answer')
      messages.push(reply)
      if (!reply.tool_calls?.length) return reply.content ?? ''
      const results = await Promise.all(reply.tool_calls.map((call) => serve(call, customer)))
      for (const [index, result] of results.entries()) {
        messages.push({ role: 'tool', tool_call_id: reply.tool_calls[index]?.id ?? '', content: result.content })
      }
    }
    return handover
  }

  return hg.agent('support-desk', answer, { session: ({ session, customer }) => ({ id: session, user: customer }) })
}
