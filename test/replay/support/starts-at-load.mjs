// A product that starts working as soon as it is loaded, as a script does: one file with the agent and the line that runs it.
import { appendFileSync } from 'node:fs'
import { homeground } from '@homeground/sdk'
import OpenAI from 'openai'

const hg = homeground({ project: 'script', endpoint: 'http://127.0.0.1:9' })
const client = hg.wrap(new OpenAI({ apiKey: 'none', baseURL: process.env.ELSEWHERE, maxRetries: 0 }))
const book = hg.tool({
  name: 'book',
  description: 'Books',
  parameters: { type: 'object', properties: {} },
  effect: 'write',
  execute: async () => {
    appendFileSync(process.env.LEDGER, 'booked\n')
    return 'booked'
  },
})

export const agent = hg.agent('script', async () => {
  if (process.env.PLANTED === 'model') await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
  return (await book.call({ id: '1', function: { name: 'book', arguments: '{}' } })).content
})

await hg.session({ id: 's' }, () => agent())
await hg.shutdown()
