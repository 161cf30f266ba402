import { seamHandshake, withSeam } from '@homeground/sdk/seam'
import { describe, expect, it } from 'vitest'
import { currentFrame, runStorage } from '../../../sdk/run/context.ts'

const state = { attributes: { 'homeground.replay.arm': 'a' }, record: () => undefined }

describe('withSeam', () => {
  it('is seen by all asynchronous work that starts in it, and by nothing else', async () => {
    const seam = { now: () => 7 }
    const inside = await withSeam({ seam, state }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 1))
      return currentFrame()
    })
    expect(inside).toMatchObject({ agents: [], replay: { seam, state } })
    expect(inside?.traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(currentFrame()).toBeUndefined()
  })

  it('keeps two rollouts that run at the same time apart', async () => {
    const rollout = (n: number) =>
      withSeam({ seam: { now: () => n }, state: { ...state, traceId: String(n).padStart(32, '0') } }, async () => {
        await new Promise((resolve) => setTimeout(resolve, 5 - n))
        return [currentFrame()?.traceId, currentFrame()?.replay?.seam.now?.()]
      })
    expect(await Promise.all([rollout(1), rollout(2)])).toEqual([
      ['00000000000000000000000000000001', 1],
      ['00000000000000000000000000000002', 2],
    ])
  })

  it('rejects as the product does', async () => {
    await expect(withSeam({ seam: {}, state }, () => Promise.reject(new RangeError('mine')))).rejects.toThrow(new RangeError('mine'))
  })

  it('lives at the well-known place, so that other copies of the SDK find it', () => {
    expect(Reflect.get(globalThis, Symbol.for('@homeground/sdk/seam@1'))).toBe(runStorage)
  })

  it('has no handshake before a product is switched on', () => {
    expect(seamHandshake()).toBe(false)
  })
})
