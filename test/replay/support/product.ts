// A small product with the SDK in it, as replay's tests load it: a clerk with tools, reads, a sub-agent and a variant, and faults that a test can switch on.
import { Readable } from 'node:stream'
import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import { assembleEpisodes, type Episode, normaliseSpan } from '@homeground/sdk/trace'
import OpenAI from 'openai'
import { z } from 'zod'

export const exporter = new MemoryExporter()
export const hg = homeground({
  project: 'clerk',
  exporter,
  variants: {
    tone: { value: 'kind', share: 0.5 },
    limits: { value: { tries: 3 }, share: 0.5 },
    code: { value: '8', share: 0.5 },
  },
})

/** What a test plants. */
export const faults = { clock: false, random: false, network: '', tool: false, code: false, hang: false, throws: false, stream: false }
/** Calls of the real functions: none in a replay. */
export const ran: string[] = []
/** What the reads give when they run. */
export const world = { day: '2026-01-05', stock: 3 }

let client = new OpenAI({ apiKey: 'none', baseURL: 'http://127.0.0.1:9/v1' })
export function useModel(baseURL: string): void {
  client = hg.wrap(new OpenAI({ apiKey: 'none', baseURL, maxRetries: 0 }))
}
useModel('http://127.0.0.1:9/v1')

const stock = hg.tool({
  name: 'stock',
  description: 'How many there are',
  parameters: z.object({ item: z.string(), depot: z.string().default('main') }),
  effect: 'read',
  execute: async ({ item, depot }) => {
    ran.push(`stock ${item} ${depot}`)
    if (item === 'ghost') throw new RangeError('no such item')
    return { item, count: world.stock }
  },
})
const order = hg.tool({
  name: 'order',
  description: 'Orders it',
  parameters: z.object({ item: z.string() }),
  effect: 'write',
  execute: async ({ item }) => {
    ran.push(`order ${item}`)
    return `ordered ${item}`
  },
})
void stock
void order

const research = hg.agent('research', async (topic: string) => {
  const completion = await client.chat.completions.create({ model: 'small', messages: [{ role: 'user', content: `Notes on ${topic}` }] })
  return completion.choices[0]?.message.content ?? ''
})

export const clerk = hg.agent('clerk', async ({ ask }: { ask: string }): Promise<string> => {
  const day = await hg.io('day', async () => world.day)
  const stamp = hg.now()
  const dice = hg.random()
  const notes = ask.includes('research') ? await research(ask) : ''
  const extras = [
    faults.clock ? ` Now: ${new Date(performance.timeOrigin + performance.now()).toISOString()}` : '',
    faults.random ? ` Ticket: ${crypto.randomUUID()}` : '',
    faults.code ? ' Be brief.' : '',
  ]
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: `${hg.variant('prompt', 'You are a clerk.')} Day: ${day}. ${stamp} ${dice}.${notes}${extras.join('')}` },
    { role: 'user', content: ask },
  ]
  if (faults.throws) throw new TypeError('the clerk is ill')
  if (faults.hang) await new Promise(() => {})
  if (faults.network !== '') await fetch(faults.network).catch(() => undefined)
  const tools = hg
    .toolDefinitions()
    .map((tool) =>
      faults.tool && tool.function.name === 'stock' ? { ...tool, function: { ...tool.function, description: 'Counts' } } : tool,
    )
  for (let step = 0; step < 6; step += 1) {
    const message = await say({ model: 'big', messages, tools })
    messages.push(message)
    if (!message.tool_calls?.length) return message.content ?? ''
    const answers = await Promise.all(message.tool_calls.map((call) => hg.callTool(call)))
    for (const answer of answers) messages.push({ role: 'tool', tool_call_id: answer.callId ?? '', content: answer.content })
  }
  return 'gave up'
})

/** Takes several arguments, as products do: what is asked, how, and where the answer is written. */
export const teller = hg.agent(
  'teller',
  async (ask?: string, { polite = false }: { polite?: boolean } = {}, onText: (text: string) => void = () => {}) => {
    const message = await say({
      model: 'big',
      messages: [{ role: 'user', content: `${ask ?? 'Notes on nothing'}${polite ? ', please' : ''}` }],
    })
    onText(message.content ?? '')
    return message.content
  },
)

/** Says by which variants it went: texts, and one that is none. */
export const varied = hg.agent('varied', async (ask: string) => {
  const { tries } = hg.variant('limits', { tries: 1 })
  const content = `${ask} ${hg.variant('tone', 'plain')} ${tries} ${hg.variant('code', '7')}`
  return (await say({ model: 'big', messages: [{ role: 'user', content }] })).content
})

/** Gives its answer piece by piece, in each of the forms that products have for it. */
export const writer = hg.agent('writer', async ({ ask, as }: { ask: string; as: 'stream' | 'response' }) => {
  const bytes = Readable.toWeb(Readable.from(piecesOf(ask)).map((piece) => Buffer.from(String(piece)))) as ReadableStream
  return as === 'stream' ? bytes : new Response(bytes)
})
export const generator = hg.agent('generator', ({ ask }: { ask: string }) => piecesOf(ask))

async function* piecesOf(ask: string): AsyncGenerator<string> {
  const stream = await client.chat.completions.create({ model: 'big', messages: [{ role: 'user', content: ask }], stream: true })
  for await (const chunk of stream) yield chunk.choices[0]?.delta.content ?? ''
}

async function say(request: OpenAI.ChatCompletionCreateParamsNonStreaming): Promise<OpenAI.ChatCompletionMessage> {
  if (faults.stream) return await client.chat.completions.stream({ ...request, stream: true }).finalMessage()
  const completion = await client.chat.completions.create(request)
  const message = completion.choices[0]?.message
  if (message === undefined) throw new Error('no answer')
  return message
}

/** What has been recorded since the last call. */
export async function recorded(): Promise<Episode[]> {
  await hg.flush()
  const episodes = assembleEpisodes(exporter.spans.map(normaliseSpan), [])
  exporter.reset()
  return episodes
}
