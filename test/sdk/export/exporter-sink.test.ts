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
