import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { ModelCall, Usage } from '@homeground/sdk/trace'
import { expect, onTestFinished, test } from 'vitest'
import { episodeCostUsd, priceOf, readPrices, usageCostUsd } from '../../../replay/rubric/index.ts'
import { modelStep, sampleEpisode } from './sample.ts'

const prices = { m: { input: 2, output: 10, cacheRead: 1, cacheWrite: 3, maxInputTokens: 1_000_000 } }

function call(usage: Usage, model = 'm'): ModelCall {
  return modelStep('x', { model, response: { outputs: [], finishReasons: ['stop'], usage } })
}

test('cached input is priced as such, and the rest of the input at the full price', () => {
  const usage = { inputTokens: 1000, cacheReadTokens: 300, cacheWriteTokens: 200, outputTokens: 100 }
  expect(usageCostUsd('m', usage, prices)).toBeCloseTo((500 * 2 + 300 + 200 * 3 + 100 * 10) / 1e6, 15)
})

test('what is not known is undefined, never 0', () => {
  const usage = { inputTokens: 10, outputTokens: 1 }
  expect(usageCostUsd('other', usage, prices)).toBeUndefined()
  expect(usageCostUsd('m', { inputTokens: 10 }, prices)).toBeUndefined()
  expect(usageCostUsd('m', { inputTokens: 1_000_001, outputTokens: 1 }, prices)).toBeUndefined()
  expect(episodeCostUsd(sampleEpisode(), prices)).toBeUndefined()
  expect(episodeCostUsd(sampleEpisode({ steps: [call(usage), call(usage, 'other')] }), prices)).toBeUndefined()
})

test("an episode's cost is the sum of its answered calls", () => {
  const { response: _, ...failed } = call({})
  const usage = { inputTokens: 1_000_000, outputTokens: 0 }
  expect(episodeCostUsd(sampleEpisode({ steps: [call(usage), failed, call(usage)] }), prices)).toBe(4)
})

test('a call is priced as the model that answered it, or else as the one that was asked for; all of them as the one that is paid', () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 0 }
  const named = { ...prices, small: { input: 1, output: 1 } }
  const answeredBy = (model: string): ModelCall =>
    modelStep('x', { model: 'm', response: { outputs: [], finishReasons: ['stop'], usage, model } })
  const cost = (model: string, paid?: string): number | undefined =>
    episodeCostUsd(sampleEpisode({ steps: [answeredBy(model)] }), named, paid)
  expect([cost('small'), cost('served-name'), cost('m', 'small'), cost('m', 'no-price')]).toEqual([1, 2, 1, undefined])
})

test('a price is found under the dated and the prefixed name too', () => {
  for (const name of ['gpt-4o', 'gpt-4o-2024-11-20', 'openai/gpt-4o', 'gpt-4o-latest'])
    expect(priceOf(name, readPrices(undefined))).toMatchObject({ input: 2.5, output: 10 })
  expect(priceOf('toString', readPrices(undefined))).toBeUndefined()
})

test('a file of prices goes before the list, and a broken one is refused by name', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'prices-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'prices.json')
  fs.writeFileSync(file, JSON.stringify({ 'gpt-4o': { input: 1, output: 1 } }))
  expect(priceOf('gpt-4o', readPrices(file))).toEqual({ input: 1, output: 1 })
  expect(priceOf('gpt-4o-mini', readPrices(file))).toMatchObject({ input: 0.15 })
  fs.writeFileSync(file, JSON.stringify({ 'gpt-4o': { input: -1, output: 1 } }))
  expect(() => readPrices(file)).toThrow(expect.objectContaining({ code: 'invalid-settings', message: expect.stringContaining(file) }))
  expect(() => readPrices(`${file}.none`)).toThrow(expect.objectContaining({ code: 'invalid-settings' }))
})
