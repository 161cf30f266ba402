import { type HomegroundOptions, homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import { describe, expect, it, onTestFinished } from 'vitest'

function setUp(options: Partial<HomegroundOptions> = {}) {
  const exporter = new MemoryExporter()
  const hg = homeground({ project: 'test', exporter, ...options })
  return { exporter, hg, [Symbol.asyncDispose]: () => hg.shutdown() }
}

describe('feedback that no collector would take', () => {
  const trace = '0123456789abcdef0123456789abcdef'
  const cyclic: Record<string, unknown> = {}
  cyclic['itself'] = cyclic
  it.each<[string, unknown, unknown, Record<string, unknown>]>([
    ['a bigint', 'score', 5n, { trace }],
    ['a cycle', 'score', cyclic, { trace }],
    ['not a number', 'score', Number.NaN, { trace }],
    ['an object', 'score', { a: 1 }, { trace }],
    ['a comment that is no text', 'score', 1, { trace, comment: 5n }],
    ['no name', '', 1, { trace }],
    ['a UUID as its trace', 'score', 1, { trace: '01234567-89ab-cdef-0123-456789abcdef' }],
    ['a step that is no span', 'score', 1, { trace, step: 'nope' }],
  ])('%s: is dropped, counted and told, and the good one beside it arrives', async (_, name, value, options) => {
    await using t = setUp()
    const told: string[] = []
    const listen = (warning: Error): void => void told.push(warning.message)
    process.on('warning', listen)
    onTestFinished(() => void process.off('warning', listen))
    Reflect.apply(t.hg.feedback, t.hg, [name, value, options])
    t.hg.feedback('good', true, { trace })
    expect(await t.hg.flush(2000)).toBe(true)
    await new Promise(setImmediate)
    expect(t.exporter.feedback).toMatchObject([{ name: 'good', value: true, traceId: trace }])
    expect(t.hg.stats()).toMatchObject({ droppedFeedback: 1, internalErrors: 0 })
    expect(told).toEqual([expect.stringMatching(/^homeground: feedback .*is left out: its /)])
  })
})

describe('feedback of an episode that `sample` leaves out', () => {
  it('is left out too, in the run and later by its trace, and counted; of a recorded one it is sent', async () => {
    await using t = setUp({ sample: 0.5 })
    const agent = t.hg.agent('desk', async () => {
      t.hg.feedback('inside', true)
      return t.hg.trace()
    })
    const traces = await Promise.all(Array.from({ length: 64 }, () => agent()))
    for (const trace of traces) t.hg.feedback('later', true, { ...(trace === undefined ? {} : { trace }) })
    expect(await t.hg.flush(2000)).toBe(true)
    const recorded = t.exporter.spans.map(({ traceId }) => traceId).toSorted()
    const about = (name: string) => t.exporter.feedback.filter((each) => each.name === name).map(({ traceId }) => traceId)
    expect([about('inside').toSorted(), about('later').toSorted()]).toEqual([recorded, recorded])
    expect(t.hg.stats()).toMatchObject({ unsampled: 3 * (64 - recorded.length), droppedFeedback: 0, exportedFeedback: 2 * recorded.length })
  })

  it('is all sent by a process that records none but was told no share', async () => {
    await using t = setUp()
    t.hg.feedback('later', true, { trace: 'f'.repeat(32) })
    expect(await t.hg.flush(2000)).toBe(true)
    expect(t.exporter.feedback).toMatchObject([{ name: 'later' }])
  })
})
