// A product with one tool that changes the world: it writes into the file that LEDGER names.
import fs from 'node:fs'
import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import OpenAI from 'openai'

const hg = homeground({ project: 'booking', exporter: new MemoryExporter() })
const client = hg.wrap(new OpenAI({ apiKey: 'none', baseURL: 'http://127.0.0.1:9/v1', maxRetries: 0 }))

hg.tool({
  name: 'book',
  description: 'Books a seat',
  parameters: { type: 'object', properties: { seat: { type: 'number' } } },
  effect: 'write',
  execute: async ({ seat }) => {
    fs.appendFileSync(process.env.LEDGER, `${seat}\n`)
    return `booked ${seat}`
  },
})

export const agent = hg.agent('booking', async ({ ask }) => {
  const messages = [{ role: 'user', content: ask }]
  for (;;) {
    const completion = await client.chat.completions.create({ model: 'm', messages, tools: hg.toolDefinitions() })
    const message = completion.choices[0].message
    messages.push(message)
    if (!message.tool_calls?.length) return message.content
    for (const call of message.tool_calls) {
      const { callId, content } = await hg.callTool(call)
      messages.push({ role: 'tool', tool_call_id: callId, content })
    }
  }
})
