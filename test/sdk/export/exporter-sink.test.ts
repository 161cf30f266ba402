import { homeground } from '@homeground/sdk'
import { describe, expect, it } from 'vitest'

const fails = () => {
  throw new Error('no room')
}
const rejects = async () => fails()
const takes = () => undefined

describe('flush() with an exporter of the product’s', () => {
  it.each<[string, { export(): unknown; exportFeedback?(): unknown; flush?(): unknown }, boolean]>([
    ['takes all', { export: takes, exportFeedback: takes, flush: takes }, true],
    ['throws', { export: fails, exportFeedback: takes }, false],
    ['rejects', { export: rejects, exportFeedback: takes }, false],
    ['throws for feedback', { export: takes, exportFeedback: fails }, false],
    ['takes no feedback', { export: takes }, false],
    ['throws in its own flush', { export: takes, exportFeedback: takes, flush: rejects }, false],
  ])('that %s is %s', async (_, exporter, delivered) => {
    const hg = homeground({ project: 'test', exporter: { flush: takes, ...exporter } as never })
    hg.agent('a', () => 1)()
    hg.feedback('thumbs', true, { trace: '1'.repeat(32) })
    expect(await hg.flush()).toBe(delivered)
    // What was lost is lost: the next flush has nothing to say of it.
    if (exporter.flush !== rejects) expect(await hg.flush()).toBe(true)
    await hg.shutdown()
  })
})

it('an exporter that hangs makes the SDK hold no more than its bound, and what is lost is counted', async () => {
  let release = (): void => undefined
  const hanging = new Promise<void>((resolve) => {
    release = resolve
  })
  const hg = homeground({ project: 'test', exporter: { export: () => hanging }, maxQueueBytes: 1_000_000 })
  const run = hg.agent('a', (text: string) => text)
  for (let call = 0; call < 20; call += 1) run('x'.repeat(50_000))
  expect(await hg.flush(50)).toBe(false)
  const { queuedSpans, queuedBytes, dropped } = hg.stats()
  expect({ held: queuedSpans + dropped, dropped: dropped > 0, bytes: queuedBytes > 500_000 && queuedBytes <= 1_000_000 }).toEqual({
    held: 20,
    dropped: true,
    bytes: true,
  })
  release()
  await hg.flush()
  expect(hg.stats()).toMatchObject({ exported: queuedSpans, dropped, queuedSpans: 0, queuedBytes: 0 })
  run('later')
  expect(await hg.flush()).toBe(true)
  await hg.shutdown()
})

it('what an exporter that hangs has not taken at shutdown() is counted as dropped', async () => {
  let begun = (): void => undefined
  const exporting = new Promise<void>((resolve) => {
    begun = resolve
  })
  const hang = (): Promise<void> => {
    begun()
    return new Promise(() => undefined)
  }
  const hg = homeground({ project: 'test', exporter: { export: hang } })
  const run = hg.agent('a', () => 1)
  run()
  await exporting
  for (let call = 0; call < 3; call += 1) run()
  await hg.shutdown(20)
  expect(hg.stats()).toMatchObject({ spans: 4, exported: 0, queuedSpans: 1, dropped: 3 })
})
