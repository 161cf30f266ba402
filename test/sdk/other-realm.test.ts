// A test runner that gives each file a realm of its own (Jest does) has the platform's values from another one: its errors, promises and clones are of classes that are not the tests' own.
import { runInNewContext, runInThisContext } from 'node:vm'
import { expect, it, onTestFinished, vi } from 'vitest'
import { recorded } from './recorded.ts'

const parse: (text: string) => unknown = runInNewContext('JSON.parse')

it('takes a tool’s JSON Schema whose clone is of another realm', () => {
  vi.stubGlobal('structuredClone', (value: unknown) => parse(JSON.stringify(value)))
  onTestFinished(() => void vi.unstubAllGlobals())
  const { hg } = recorded()
  const parameters = { type: 'object', properties: { city: { type: 'string' } } } as const
  hg.tool({ name: 'weather', description: 'now', parameters, effect: 'read', execute: () => 'sun' })
  expect(hg.toolDefinitions()).toMatchObject([{ function: { name: 'weather', parameters } }])
})

it('names an error that fetch gives of another realm', async () => {
  const { hg, exporter } = recorded()
  const fetch = (_url: string, _init: RequestInit): Promise<Response> => Promise.reject(runInNewContext('new TypeError("fetch failed")'))
  const sent = hg.wrap({ fetch }).fetch('http://model.test/v1/chat/completions', { method: 'POST', body: '{"model":"m"}' })
  await expect(sent).rejects.toMatchObject({ message: 'fetch failed' })
  await hg.flush()
  expect(exporter.spans[0]?.attributes).toMatchObject({ 'error.type': 'TypeError' })
})

it('records values of another realm as its own', async () => {
  const { hg, exporter } = recorded()
  const sources = ['new Map([["a", 1]])', 'new Set([1])', '/a/g', 'new RangeError("far")', 'new Uint8Array([1]).buffer', '({ a: [1] })']
  for (const evaluate of [runInNewContext, runInThisContext])
    await hg.agent('a', async (given: unknown) => given)(sources.map((source) => evaluate(source)))
  await hg.flush()
  const [foreign, own] = exporter.spans.map(({ attributes }) => attributes['homeground.agent.input'])
  expect(own).toContain('far')
  expect(foreign).toBe(own)
})
