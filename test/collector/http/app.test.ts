// What a collector answers that takes no spans itself, and one whose queue would take none now.
import type { Episode } from '@homeground/sdk/trace'
import { afterEach, describe, expect, test } from 'vitest'
import { type Collector, startCollector } from '../../../collector/index.ts'
import type { Queue } from '../../../collector/queue/types.ts'
import { memoryLog } from '../../support/collector.ts'
import { postTraces, protobufTraces } from '../../support/otlp.ts'
import { traceId } from '../../support/span-rows.ts'

let collector: Collector | undefined
afterEach(() => collector?.close())

function queue(ready: boolean): Queue & { published: number } {
  const taken = {
    published: 0,
    publishSpans: async () => void taken.published++,
    publishFeedback: async () => void taken.published++,
    ready: async () => ready,
    close: async () => {},
  }
  return taken
}

describe('a process with the role ingest', () => {
  test('takes nothing over HTTP, says where to send it, and shows no episodes without a store', async () => {
    const behind = queue(true)
    collector = await startCollector({ queue: behind, log: memoryLog(), port: 0, accepts: false })
    const answer = await postTraces(collector.url, protobufTraces([]))
    const feedback = await fetch(`${collector.url}/v1/feedback`, { method: 'POST', body: '{}' })
    const episodes = await fetch(`${collector.url}/v1/episodes`)
    expect([answer.status, feedback.status, episodes.status, behind.published]).toEqual([405, 405, 404, 0])
    expect(await feedback.text()).toContain('this process only ingests: send to one with the role receive')
  })
})

test('what would take no rows now is alive and not ready', async () => {
  collector = await startCollector({ queue: queue(false), log: memoryLog(), port: 0 })
  const [alive, ready] = await Promise.all(['healthz', 'readyz'].map((path) => fetch(`${collector?.url}/${path}`)))
  expect([alive?.status, ready?.status, await ready?.json()]).toEqual([200, 503, { status: 'store or broker away' }])
})

test('an export of many large episodes to a reader who is slower leaves nothing behind at each of its pauses', async () => {
  const warnings: string[] = []
  const listen = (warning: Error) => void warnings.push(warning.name)
  process.on('warning', listen)
  const large: Omit<Episode, 'id'> = {
    format: 1,
    trace: traceId(1),
    project: 'shop',
    tags: {},
    startedAt: '2026-12-01T00:00:00.000Z',
    durationMs: 1,
    input: 'x'.repeat(1024 * 1024),
    steps: [],
    feedback: [],
    source: { kind: 'trace' },
  }
  const store = {
    async *episodes() {
      for (let n = 0; n < 30; n += 1) yield { id: traceId(n), ...large }
    },
  }
  try {
    collector = await startCollector({ queue: queue(true), log: memoryLog(), port: 0, store })
    const text = await (await fetch(`${collector.url}/v1/episodes?project=shop`)).text()
    expect(text.match(/"id":/g)?.length).toBe(30)
    // A warning is given in a tick of its own.
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
  } finally {
    process.off('warning', listen)
  }
})
