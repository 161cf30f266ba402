// LangChain.js: the model takes our fetch, the tool is made from our execute. LangChain hands the call's id on, so each tool span finds its call.
import { homeground } from '@homeground/sdk'
import { HumanMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'

const hg = homeground({ project: 'orders' })

const findOrder = hg.tool({
  name: 'find_order',
  description: 'Finds an order by its number',
  parameters: z.object({ order: z.number() }),
  effect: 'read',
  execute: async ({ order }) => ({ order, status: 'on its way' }),
})
const tools = [
  tool(findOrder.execute, { name: findOrder.name, description: findOrder.description, schema: z.object({ order: z.number() }) }),
]
const model = new ChatOpenAI({ model: 'gpt-4o-mini', configuration: { fetch: hg.fetch } }).bindTools(tools)

const support = hg.agent('support', async (question) => {
  const messages = [new HumanMessage(question)]
  for (let turn = 0; turn < 5; turn += 1) {
    const answer = await model.invoke(messages)
    if (answer.tool_calls.length === 0) return answer.text
    messages.push(answer)
    for (const call of answer.tool_calls) messages.push(await tools.find(({ name }) => name === call.name).invoke(call))
  }
  return 'I could not find out.'
})

console.log(await hg.session({ id: 'visit-1' }, () => support('Where is order 7?')))
await hg.shutdown()
