// Which spans are delivered, and when.
import { homeground } from '@homeground/sdk'
import { expect, it } from 'vitest'
import { recorded } from '../recorded.ts'

it('samples whole episodes: all spans of a trace or none', async () => {
  const { hg, exporter } = recorded({ sample: 0.5 })
  const tool = hg.tool({ name: 't', parameters: {}, execute: async () => 1 })
  for (let n = 0; n < 60; n += 1) await hg.agent('a', async () => await tool.execute({}))()
  await hg.flush()
  const traces = new Map<string, number>()
  for (const { traceId } of exporter.spans) traces.set(traceId, (traces.get(traceId) ?? 0) + 1)
  expect(traces.size).toBeGreaterThan(10)
  expect(traces.size).toBeLessThan(50)
  expect([...traces.values()].every((count) => count === 2)).toBe(true)
  expect(hg.stats().unsampled).toBe(120 - exporter.spans.length)
})

it('flush is over within its deadline, with false, where the exporter hangs', async () => {
  const hg = homeground({ project: 'test', exporter: { export: () => new Promise(() => {}) } })
  await hg.agent('a', async () => 1)()
  const before = performance.now()
  expect(await hg.flush(50)).toBe(false)
  expect(performance.now() - before).toBeLessThan(5000)
})

it('hands each delivery to waitUntil, one at a time', async () => {
  const waits: Promise<unknown>[] = []
  const { hg, exporter } = recorded({ waitUntil: (work) => void waits.push(work) })
  await hg.agent('a', async () => 1)()
  await expect.poll(() => waits.length).toBe(1)
  expect(await waits[0]).toBe(true)
  expect(exporter.spans).toHaveLength(1)
})
