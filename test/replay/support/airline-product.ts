// The recorded airline episodes' agent as a product would have it: a client, tools of its own, the customer's messages one after another. Its tools never run: a replay has their results.
import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import OpenAI from 'openai'
import definitions from '../../../examples/data/tau-airline-tools.json' with { type: 'json' }

const hg = homeground({ project: 'tau-airline', exporter: new MemoryExporter() })
const client = hg.wrap(new OpenAI({ apiKey: 'none', baseURL: 'http://127.0.0.1:9/v1' }))
for (const { name, parameters } of definitions) {
  hg.tool({ name, parameters, effect: 'read', execute: () => Promise.reject(new Error(`${name} ran`)) })
}

export const agent = hg.agent('airline', async ({ policy, said }: { policy: string; said: string[] }): Promise<void> => {
  let calls = 0
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: policy }]
  for (const content of said) {
    messages.push({ role: 'user', content })
    for (;;) {
      // The benchmark's limit.
      if (calls === 30) return
      calls += 1
      const completion = await client.chat.completions.create({ model: 'gpt-4o', messages })
      const message = completion.choices[0]?.message
      if (message === undefined) throw new Error('no answer')
      messages.push(message)
      if (!message.tool_calls?.length) break
      for (const call of message.tool_calls) {
        const answer = await hg.callTool(call)
        // The benchmark's agent named the tool on its result.
        messages.push({ role: 'tool', tool_call_id: call.id, content: answer.content, ...{ name: answer.name } })
      }
      // A colleague goes on.
      if (message.tool_calls.some((call) => call.type === 'function' && call.function.name === 'transfer_to_human_agents')) return
    }
  }
})
