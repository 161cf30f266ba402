// A key that a request was sent with is recorded nowhere, wherever the error that repeats it goes.
import http from 'node:http'
import OpenAI from 'openai'
import { expect, it, onTestFinished } from 'vitest'
import { recorded } from '../recorded.ts'

/** Of no vendor's pattern. */
const key = 'abcdef0123456789abcdef0123456789'

/** Refuses the key, saying it again, once; then answers. */
async function forgetful(): Promise<string> {
  let asked = 0
  const server = http.createServer((request, response) => {
    request.resume()
    asked += 1
    response.writeHead(asked === 1 ? 401 : 200, { 'content-type': 'application/json' })
    const message = { role: 'assistant', content: `I was told: ${key}` }
    const error = { message: `Incorrect API key provided: ${key}.` }
    response.end(JSON.stringify(asked === 1 ? { error } : { id: 'a', choices: [{ index: 0, message, finish_reason: 'stop' }] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`
}

it('the error of an agent that is a tool goes on to the next request without the key, and so does all that comes of it', async () => {
  const { hg, exporter } = recorded()
  const client = hg.wrap(new OpenAI({ baseURL: await forgetful(), apiKey: key, maxRetries: 0 }))
  const ask = (content: string) => client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] })
  hg.tool({ name: 'research', parameters: {}, execute: hg.agent('researcher', async () => await ask('hi')) })
  const desk = hg.agent('desk', async () => {
    const { content } = await hg.callTool({ id: 'c', name: 'research', arguments: {} })
    return (await ask(content)).choices[0]?.message.content
  })
  expect(await desk()).toBe(`I was told: ${key}`)
  await hg.flush()
  const written = exporter.spans.map((span) => [span.name, JSON.stringify([span.attributes, span.status])])
  expect(written.map(([name]) => name).toSorted()).toEqual([
    'chat m',
    'chat m',
    'execute_tool research',
    'invoke_agent desk',
    'invoke_agent researcher',
  ])
  expect(written.filter(([, text]) => text?.includes(key))).toEqual([])
  expect(exporter.spans.filter(({ attributes: a }) => String(a['homeground.request.body']).includes('provided: <key>.'))).toHaveLength(1)
})

it('a word that stands for a key where none is needed stays a word', async () => {
  const { hg, exporter } = recorded()
  const client = hg.wrap(new OpenAI({ baseURL: await forgetful(), apiKey: 'lm-studio', maxRetries: 0 }))
  const ask = () => client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'What is lm-studio?' }] })
  await ask().catch(() => undefined)
  await ask()
  await hg.flush()
  expect(exporter.spans.map(({ attributes: a }) => String(a['homeground.request.body']).includes('What is lm-studio?'))).toEqual([
    true,
    true,
  ])
})
