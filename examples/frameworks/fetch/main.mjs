// No framework: plain HTTP by hg.fetch, and the tool's calls served by name.
import { homeground } from '@homeground/sdk'
import { z } from 'zod'

const hg = homeground({ project: 'orders' })

hg.tool({
  name: 'find_order',
  description: 'Finds an order by its number',
  parameters: z.object({ order: z.number() }),
  effect: 'read',
  execute: async ({ order }) => ({ order, status: 'on its way' }),
})

async function ask(messages) {
  const response = await hg.fetch(`${process.env.OPENAI_BASE_URL ?? 'https://api.openai.com/v1'}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env.OPENAI_API_KEY}` },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages, tools: hg.toolDefinitions() }),
  })
  if (!response.ok) throw new Error(`the model answered ${response.status}`)
  return (await response.json()).choices[0].message
}

const support = hg.agent('support', async (question) => {
  const messages = [{ role: 'user', content: question }]
  for (let turn = 0; turn < 5; turn += 1) {
    const message = await ask(messages)
    if (!message.tool_calls?.length) return message.content
    messages.push(message)
    for (const call of message.tool_calls) {
      const { content } = await hg.callTool(call)
      messages.push({ role: 'tool', tool_call_id: call.id, content })
    }
  }
  return 'I could not find out.'
})

console.log(await hg.session({ id: 'visit-1' }, () => support('Where is order 7?')))
await hg.shutdown()
