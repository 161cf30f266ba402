// Vercel AI SDK: the provider takes our fetch, the tool is given our execute.
import { createOpenAI } from '@ai-sdk/openai'
import { homeground } from '@homeground/sdk'
import { generateText, stepCountIs, tool } from 'ai'
import { z } from 'zod'

const hg = homeground({ project: 'orders' })
const openai = createOpenAI({ fetch: hg.fetch })

const findOrder = hg.tool({
  name: 'find_order',
  description: 'Finds an order by its number',
  parameters: z.object({ order: z.number() }),
  effect: 'read',
  execute: async ({ order }) => ({ order, status: 'on its way' }),
})

const support = hg.agent('support', async (question) => {
  const { text } = await generateText({
    model: openai('gpt-4o-mini'),
    prompt: question,
    tools: {
      find_order: tool({ description: findOrder.description, inputSchema: z.object({ order: z.number() }), execute: findOrder.execute }),
    },
    stopWhen: stepCountIs(5),
  })
  return text
})

console.log(await hg.session({ id: 'visit-1' }, () => support('Where is order 7?')))
await hg.shutdown()
