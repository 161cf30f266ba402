// The support desk written for Anthropic's client: the same tools, reads and prompt, another dialect. An empty shop: whatever it knows comes from a tape.
import Anthropic from '@anthropic-ai/sdk'
import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import type { DeskQuestion } from '../../../examples/support-desk/agent.ts'
import { defaultPrompt, systemMessage } from '../../../examples/support-desk/prompt.ts'
import { createShop } from '../../../examples/support-desk/shop.ts'
import { deskTools } from '../../../examples/support-desk/tools.ts'

const hg = homeground({ project: 'support-desk', exporter: new MemoryExporter() })
const client = hg.wrap(new Anthropic({ apiKey: 'none', baseURL: 'http://127.0.0.1:9' }))
const shop = createShop({ customers: [], orders: [] }, { today: () => '1999-01-01' })
const desk = Object.values(deskTools(hg, shop))

export const answer = hg.agent('support-desk', async ({ session, customer, message }: DeskQuestion): Promise<string> => {
  const [profile, history, today] = await Promise.all([
    hg.io('customer', () => shop.customer(customer), { key: customer }),
    hg.io('history', async (): Promise<{ role: 'user' | 'assistant'; content: string }[]> => [], { key: session }),
    hg.io('today', () => shop.today()),
  ])
  const messages: Anthropic.MessageParam[] = [...history, { role: 'user', content: message }]
  for (let step = 0; step < 8; step += 1) {
    const reply = await client.messages.create({
      model: 'desk',
      max_tokens: 1_000,
      system: systemMessage(hg.variant('prompt', defaultPrompt), { customer: profile, today }),
      messages,
      tools: hg.toolDefinitions().map((tool) => ({
        name: tool.function.name,
        description: tool.function.description ?? '',
        input_schema: { type: 'object' as const, ...tool.function.parameters },
      })),
    })
    messages.push({ role: 'assistant', content: reply.content })
    const calls = reply.content.filter((block) => block.type === 'tool_use')
    if (calls.length === 0) return reply.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
    const results = await Promise.all(
      calls.map(async ({ id, name, input }): Promise<Anthropic.ToolResultBlockParam> => {
        const wanted = { id, type: 'function' as const, function: { name, arguments: JSON.stringify(input) } }
        const tool = desk.find((each) => each.name === name)
        const { content } = tool === undefined ? await hg.callTool(wanted) : await tool.call(wanted, customer)
        return { type: 'tool_result', tool_use_id: id, content }
      }),
    )
    messages.push({ role: 'user', content: results })
  }
  throw new Error('the model did not come to an end')
})
