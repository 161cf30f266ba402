// What is still at work when the recorder ends: by shutdown(), or with its process.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { homeground } from '@homeground/sdk'
import { withSeam } from '@homeground/sdk/seam'
import { MemoryExporter, startModelServer } from '@homeground/sdk/testing'
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { readProjectFile } from '../../support/project-files.ts'

const sdk = fileURLToPath(new URL('../../../sdk/dist/index.js', import.meta.url))
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const told = ({ spans }: MemoryExporter) =>
  spans.map(({ name, attributes }) => ({
    name,
    partial: attributes['homeground.partial'],
    error: attributes['error.type'],
    arguments: attributes['gen_ai.tool.call.arguments'],
    input: attributes['homeground.agent.input'],
    body: attributes['homeground.response.body'] !== undefined,
  }))

describe('what is at work at shutdown()', () => {
  it('is recorded as far as it came: an agent, its tool, a stream that is half read; their ends later add nothing', async () => {
    const server = await startModelServer({ policy: () => 'one two three four' })
    closing.push(() => server.close())
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'test', exporter })
    const client = hg.wrap(new OpenAI({ baseURL: server.url, apiKey: 'k' }))
    let finish = (_: string): void => undefined
    const search = hg.tool({ name: 'search', parameters: {}, execute: () => new Promise<string>((resolve) => (finish = resolve)) })
    const half = await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true })
    const chunks = half[Symbol.asyncIterator]()
    await chunks.next()
    const run = hg.agent('desk', async (question: string) => await search.execute({ question }))('Where?')
    await hg.shutdown()
    const left = { partial: true, arguments: undefined, input: undefined, body: false }
    expect(told(exporter)).toEqual([
      { ...left, name: 'chat m', error: undefined, body: true },
      { ...left, name: 'invoke_agent desk', error: 'shutdown', input: '"Where?"' },
      { ...left, name: 'execute_tool search', error: 'shutdown', arguments: '{"question":"Where?"}' },
    ])
    finish('late')
    expect(await run).toBe('late')
    while ((await chunks.next()).done !== true);
    await hg.flush()
    expect([exporter.spans.length, hg.stats().openSpans, hg.stats().internalErrors]).toEqual([3, 0, 0])
  })

  it('belongs to the replay where it is replayed: the agent that shuts down ends by itself', async () => {
    const hg = homeground({ project: 'test', exporter: new MemoryExporter() })
    const recorded: unknown[] = []
    const agent = hg.agent('desk', async () => {
      await hg.shutdown()
      return 'done'
    })
    const state = {
      attributes: {},
      record: (span: { attributes: Record<string, unknown> }) => void recorded.push(span.attributes['homeground.agent.output']),
    }
    expect(await withSeam({ seam: {}, state }, () => agent())).toBe('done')
    expect(recorded).toEqual(['"done"'])
  })
})

describe('what is at work when its process ends', () => {
  it('is recorded: a stream that nobody has read, and an agent that waits for what never comes', () => {
    const program = `
      import { homeground } from ${JSON.stringify(sdk)}
      const seen = []
      const exporter = { export: (spans) => void seen.push(...spans.map(({ name, attributes }) => [name, attributes['homeground.partial'], attributes['error.type'] ?? null])) }
      const hg = homeground({ project: 'test', exporter })
      process.on('exit', () => console.log(JSON.stringify(seen)))
      const stream = new Response('data: {}\\n\\n', { headers: { 'content-type': 'text/event-stream' } })
      const client = hg.wrap({ fetch: async () => stream })
      await client.fetch('http://model.invalid/v1/chat/completions', { method: 'POST', body: '{"model":"m","stream":true}' })
      void hg.agent('desk', () => new Promise(() => undefined))()`
    const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
    expect({ status, seen: JSON.parse(stdout) }).toEqual({
      status: 0,
      seen: [
        ['chat m', true, null],
        ['invoke_agent desk', true, 'shutdown'],
      ],
    })
  })
})

describe('the handlers of docs/sdk/README.md', () => {
  const [handlers = ''] = readProjectFile('docs/sdk/README.md').match(/(?<=```ts\n)process\.once\('SIGTERM'[\s\S]*?(?=```)/) ?? []

  it.each([
    ['a signal', "process.kill(process.pid, 'SIGTERM')", 0, ''],
    ['an exception that nobody catches', "setImmediate(() => { throw new Error('boom') })", 1, 'Error: boom'],
    ['a rejection that nobody handles', "void Promise.reject(new Error('boom'))", 1, 'Error: boom'],
  ])('send what waits, and what is at work, when %s ends the process', (_, end, status, said) => {
    const program = `
      import { homeground } from ${JSON.stringify(sdk)}
      const exporter = { export: async (spans) => console.log(spans.map(({ name }) => name).join()) }
      const hg = homeground({ project: 'test', exporter, exportDelayMs: 60_000 })
      ${handlers}
      hg.agent('done', () => 1)()
      void hg.agent('desk', () => new Promise(() => setInterval(() => undefined, 1000)))()
      ${end}`
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
    expect({ status: ended.status, stdout: ended.stdout }).toEqual({ status, stdout: 'invoke_agent done,invoke_agent desk\n' })
    expect(ended.stderr).toContain(said)
  })
})
