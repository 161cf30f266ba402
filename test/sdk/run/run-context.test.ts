// What belongs to a run stays with it, wherever the product's code goes on.
import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { expect, it, onTestFinished, vi } from 'vitest'
import { recorded } from '../recorded.ts'

it('its context survives timers, emitters, generators and streams, and leaves the host’s AsyncLocalStorage alone', async () => {
  const { hg } = recorded()
  const hosts = new AsyncLocalStorage<string>()
  const seen = await hosts.run('mine', () =>
    hg.agent('a', async () => {
      const here = hg.trace()
      const emitter = new EventEmitter()
      const heard = new Promise((resolve) => emitter.once('event', () => resolve(hg.trace())))
      setTimeout(() => emitter.emit('event'), 1)
      async function* generate() {
        yield hg.trace()
      }
      const streamed: unknown[] = []
      const stream = ReadableStream.from(generate())
      for await (const item of stream) streamed.push(item)
      for await (const item of generate()) streamed.push(item)
      return [here, await heard, ...streamed, hosts.getStore()]
    })(),
  )
  expect(seen).toEqual([seen[0], seen[0], seen[0], seen[0], 'mine'])
  expect(seen[0]).toMatch(/^[0-9a-f]{32}$/)
  expect(hg.trace()).toBeUndefined()
})

it('no span ends before it began where the wall clock is set back', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { hg, exporter } = recorded()
  await hg.agent('a', async () => vi.setSystemTime(0))()
  await hg.flush()
  const [span] = exporter.spans
  expect(Number(span?.endTimeUnixNano) - Number(span?.startTimeUnixNano)).toBe(0)
})
