// Content is recorded unless it is switched off: for all, for an agent, or by OpenTelemetry's variable.
import { startModelServer } from '@homeground/sdk/testing'
import OpenAI from 'openai'
import { expect, it, onTestFinished } from 'vitest'
import { recorded } from '../recorded.ts'

it('records no content where it is switched off, for all, an agent or by OpenTelemetry’s variable', async () => {
  const secret = (spans: readonly object[]) =>
    JSON.stringify(spans, (_, value) => (typeof value === 'bigint' ? Number(value) : value)).includes('secret')
  const run = async ({ hg, exporter }: ReturnType<typeof recorded>, options = {}) => {
    const server = await startModelServer({ policy: () => 'ok' })
    onTestFinished(() => server.close())
    const tool = hg.tool({ name: 't', parameters: {}, execute: async () => 'secret' })
    const client = hg.wrap(new OpenAI({ baseURL: server.url, apiKey: 'k', maxRetries: 0 }))
    await hg.agent(
      'a',
      async (_: string) => {
        await tool.execute({ a: 'secret' })
        await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'a secret prompt' }] })
      },
      options,
    )('secret')
    await hg.flush()
    expect(exporter.spans).toHaveLength(3)
    return secret(exporter.spans)
  }
  expect(await run(recorded())).toBe(true)
  expect(await run(recorded({ captureContent: false }))).toBe(false)
  expect(await run(recorded(), { captureContent: false })).toBe(false)
  process.env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'] = 'NO_CONTENT'
  const quiet = recorded()
  delete process.env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT']
  expect(await run(quiet)).toBe(false)
})

it('without content errors go without their messages, and prompts under test as digests', async () => {
  const { hg, exporter } = recorded({ captureContent: false })
  const failing = hg.agent('a', async () => {
    hg.variant('prompt', `secret ${'x'.repeat(80)}`)
    hg.variant('tone', 'brief')
    throw new RangeError('secret')
  })
  await expect(failing()).rejects.toThrow('secret')
  await hg.flush()
  const [{ attributes, status } = { attributes: {}, status: {} }] = exporter.spans
  expect({ status, ...attributes }).toEqual({
    status: { code: 2, message: '' },
    'gen_ai.agent.name': 'a',
    'gen_ai.operation.name': 'invoke_agent',
    'error.type': 'RangeError',
    'homeground.variant.prompt': expect.stringMatching(/^sha256:[0-9a-f]{16}$/),
    'homeground.variant.tone': 'brief',
  })
})

it.each([
  ...['true', 'SPAN_ONLY', 'span_and_event', ''].map((word) => ({ word, records: true })),
  ...['false', '0', 'off', 'no', 'NO_CONTENT', 'event_only', 'whatever'].map((word) => ({ word, records: false })),
])('OpenTelemetry’s variable set to "$word" means $records: what is not known is a no', async ({ word, records }) => {
  process.env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'] = word
  const { hg, exporter } = recorded()
  delete process.env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT']
  await hg.agent('a', async (_: string) => 1)('secret')
  await hg.flush()
  expect('homeground.agent.input' in (exporter.spans[0]?.attributes ?? {})).toBe(records)
})
