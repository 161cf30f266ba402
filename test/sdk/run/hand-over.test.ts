// Where the context does not reach by itself: worker threads, and queues that call back from elsewhere.
import { AsyncResource } from 'node:async_hooks'
import { Worker } from 'node:worker_threads'
import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import { describe, expect, it } from 'vitest'

const sdk = new URL('../../../sdk/dist/index.js', import.meta.url).href

describe('a run that is carried on', () => {
  it('goes on in a worker thread: same episode, same parent, same session', async () => {
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'test', exporter })
    const source = `
      import { parentPort } from 'node:worker_threads'
      import { homeground } from ${JSON.stringify(sdk)}
      const spans = []
      const hg = homeground({ project: 'test', exporter: { export: (batch) => void spans.push(...batch) } })
      const tool = hg.tool({ name: 't', parameters: {}, execute: async () => 1 })
      parentPort.once('message', async (carried) => {
        await hg.resume(carried, () => tool.execute({}))
        await hg.flush()
        parentPort.postMessage(spans.map(({ traceId, parentSpanId, attributes }) => [traceId, parentSpanId, attributes['session.id'], attributes['homeground.tag.plan']]))
      })`
    const seen = await hg.session({ id: 's', tags: { plan: 'pro' } }, () =>
      hg.agent('a', async () => {
        const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`))
        const answer = new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
        worker.postMessage(hg.carry())
        return await answer.finally(() => worker.terminate())
      })(),
    )
    await hg.shutdown()
    const [agent] = exporter.spans
    expect(seen).toEqual([[agent?.traceId, agent?.spanId, 's', 'pro']])
  })

  it('goes on in a callback of something older than the run', async () => {
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'test', exporter })
    const older = new AsyncResource('pool')
    const tool = hg.tool({ name: 't', parameters: {}, execute: async () => hg.trace() })
    const [inside, through] = await hg.agent('a', async () => {
      const carried = hg.carry()
      return [hg.trace(), await older.runInAsyncScope(() => hg.resume(carried, () => tool.execute({})))]
    })()
    expect(through).toBe(inside)
    expect(older.runInAsyncScope(() => hg.carry())).toBeUndefined()
    expect(hg.resume(undefined, () => hg.trace())).toBeUndefined()
    await hg.shutdown()
  })
})
