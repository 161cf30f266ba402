import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import { afterEach, describe, expect, it } from 'vitest'

const open: { shutdown(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.shutdown()
})

describe('homeground()', () => {
  it.each<[string, unknown]>([
    ['no options', undefined],
    ['no project', {}],
    ['an endpoint that is no URL', { project: 'p', endpoint: 'collector' }],
    ['a redactor that there is not', { project: 'p', redact: 'mail' }],
    ['a share over one', { project: 'p', sample: 5 }],
    ['a share that is no number', { project: 'p', sample: Number.NaN }],
    ['a queue of less than nothing', { project: 'p', maxQueueBytes: -1 }],
    ['an exporter that exports nothing', { project: 'p', exporter: {} }],
  ])('with %s is refused with a code and what to do', (_, options) => {
    expect(() => Reflect.apply(homeground, undefined, [options])).toThrow(
      expect.objectContaining({ code: 'invalid-argument', hint: expect.any(String), message: expect.stringContaining('homeground(): ') }),
    )
  })

  it('takes one redactor by its name', async () => {
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'p', redact: 'email', exporter })
    open.push(hg)
    await hg.agent('a', async (_: string) => 1)('of ada@example.com')
    await hg.flush()
    expect(exporter.spans[0]?.attributes['homeground.agent.input']).toMatch(/^"of <email:[0-9a-f]{8}>"$/)
  })

  it('any number of them listens to the end of the process as one', () => {
    const before = process.listenerCount('beforeExit') + process.listenerCount('exit')
    for (let count = 0; count < 30; count += 1) open.push(homeground({ project: 'p', exporter: { export: () => undefined } }))
    expect(process.listenerCount('beforeExit') + process.listenerCount('exit') - before).toBeLessThanOrEqual(3)
  })
})
