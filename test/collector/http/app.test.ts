// What a collector answers that takes no spans itself, and one whose queue would take none now.
import { afterEach, describe, expect, test } from 'vitest'
import { type Collector, startCollector } from '../../../collector/index.ts'
import type { Queue } from '../../../collector/queue/types.ts'
import { memoryLog } from '../../support/collector.ts'
import { postTraces, protobufTraces } from '../../support/otlp.ts'

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
