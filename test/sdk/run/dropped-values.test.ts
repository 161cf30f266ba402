// What a product drops unused has ended all the same.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const sdk = fileURLToPath(new URL('../../../sdk/dist/index.js', import.meta.url))

it('a lazy promise, a stream and a half-read generator that the product drops: recorded when they are gone, as long as their use was', () => {
  const program = `
    import { homeground } from ${JSON.stringify(sdk)}
    const spans = []
    const hg = homeground({ project: 'test', exporter: { export: (batch) => void spans.push(...batch) } })
    class Lazy extends Promise {}
    const words = async function* () { yield 'one'; yield 'two' }
    const half = hg.agent('generator', words)
    ;(() => void hg.agent('promise', () => new Lazy(() => undefined))())()
    ;(() => void hg.agent('stream', () => ({ [Symbol.asyncIterator]: words }))())()
    await (async () => void (await half().next()))()
    // The iterable is gone long before its iterator has come to its end.
    const whole = hg.agent('read', () => ({ [Symbol.asyncIterator]: () => words() }))()[Symbol.asyncIterator]()
    // So is the promise that somebody has asked.
    let settle
    ;(() => void hg.agent('asked', () => ({ then: (fulfilled) => { settle = fulfilled } }))().then(() => undefined))()
    let settleLater
    const followed = () => ({ then: () => undefined, finally: () => new Promise((resolve) => { settleLater = resolve }) })
    ;(() => void hg.agent('followed', followed)().finally(() => undefined))()
    // Of this one nobody can tell the end any more.
    ;(() => void hg.agent('unheard', () => ({ then: () => undefined }))().then(() => undefined))()
    const pause = () => new Promise((resolve) => setTimeout(resolve, 20))
    const dropped = BigInt(Date.now() + 1) * 1_000_000n
    await pause()
    // A few rounds more than it takes to find those four.
    for (let round = 0, more = 3; round < 50 && more > 0; round += 1, more -= spans.length < 4 ? 0 : 1) {
      gc()
      await pause()
      await hg.flush()
    }
    while (!(await whole.next()).done);
    settle('late')
    settleLater('later')
    await new Promise(setImmediate)
    await hg.flush()
    console.log(JSON.stringify({
      open: hg.stats().openSpans,
      spans: spans.map(({ name, attributes: a, endTimeUnixNano }) =>
        [name, a['homeground.partial'] ?? false, a['homeground.agent.output'] ?? null, ['asked', 'followed', 'read'].includes(name.slice(13)) || endTimeUnixNano <= dropped]).sort(),
    }))`
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', program], {
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({
    open: 0,
    spans: [
      ['invoke_agent asked', false, '"late"', true],
      ['invoke_agent followed', false, '"later"', true],
      ['invoke_agent generator', true, '"one"', true],
      ['invoke_agent promise', true, null, true],
      ['invoke_agent read', false, '"onetwo"', true],
      ['invoke_agent stream', true, null, true],
      ['invoke_agent unheard', true, null, true],
    ],
  })
})
