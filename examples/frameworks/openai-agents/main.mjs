// OpenAI Agents SDK: its client is ours, wrapped; the tool is given our execute. Its own tracing, which would send prompts to OpenAI, is off.
import { homeground } from '@homeground/sdk'
import { Agent, run, setDefaultOpenAIClient, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'

const hg = homeground({ project: 'orders' })
setDefaultOpenAIClient(hg.wrap(new OpenAI()))
setTracingDisabled(true)

const findOrder = hg.tool({
  name: 'find_order',
  description: 'Finds an order by its number',
  parameters: z.object({ order: z.number() }),
  effect: 'read',
  execute: async ({ order }) => ({ order, status: 'on its way' }),
})

const agent = new Agent({
  name: 'support',
  model: 'gpt-4o-mini',
  instructions: 'You answer questions about orders.',
  tools: [
    tool({
      name: findOrder.name,
      description: findOrder.description,
      parameters: z.object({ order: z.number() }),
      execute: findOrder.execute,
    }),
  ],
})

const support = hg.agent('support', async (question) => (await run(agent, question)).finalOutput)

console.log(await hg.session({ id: 'visit-1' }, () => support('Where is order 7?')))
await hg.shutdown()
