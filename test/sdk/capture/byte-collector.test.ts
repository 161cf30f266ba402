import { describe, expect, it } from 'vitest'
import { ByteCollector } from '../../../sdk/capture/byte-collector.ts'
import { ByteBudget } from '../../../sdk/run/byte-budget.ts'

const budget = () => new ByteBudget(1_000_000)
const bytes = (text: string) => new Uint8Array(Buffer.from(text))

describe('ByteCollector', () => {
  it('gives the bytes back as they were when they came, over the bounds of its blocks and in the middle of a character', () => {
    const collector = new ByteCollector(1_000_000, budget())
    const text = 'grüße 😀 '.repeat(5000)
    const whole = bytes(text)
    for (let at = 0; at < whole.byteLength; at += 997) {
      const chunk = whole.slice(at, at + 997)
      collector.add(chunk)
      // The caller may do with its chunk what it likes.
      chunk.fill(0)
    }
    expect(collector.text()).toBe(text)
    expect(collector).toMatchObject({ byteLength: whole.byteLength, truncated: false })
  })

  it('takes a chunk larger than a block, and more behind it', () => {
    const collector = new ByteCollector(1_000_000, budget())
    collector.add(bytes('a'.repeat(100_000)))
    collector.add(bytes('b'))
    expect(collector.text()).toBe(`${'a'.repeat(100_000)}b`)
  })

  it('shows nothing of a body that had its blocks before', () => {
    const first = new ByteCollector(1_000_000, budget())
    first.add(bytes('secret '.repeat(1000)))
    first.release()
    const second = new ByteCollector(1_000_000, budget())
    second.add(bytes('short'))
    expect(second.text()).toBe('short')
  })

  it('keeps what fits its bound and the common one, and says that there was more', () => {
    const shared = new ByteBudget(10)
    const one = new ByteCollector(6, shared)
    one.add(bytes('1234'))
    one.add(bytes('5678'))
    one.add(bytes('9'))
    const other = new ByteCollector(100, shared)
    other.add(bytes('123456'))
    other.add(bytes('7'))
    expect([one.text(), one.truncated, other.text(), other.truncated]).toEqual(['1234', true, '123456', true])
  })
})
