import { expect, it } from 'vitest'
import { type LoopResult, runOnSchedule } from '../../../tune/loop/index.ts'

const result = (end: LoopResult['end']): LoopResult => ({ end, iterations: [], live: 'models/base' })

/** A loop that ends as told, run by run, and a clock that notes how long it was asked to wait. */
function schedule(ends: LoopResult['end'][], more: { stopIn?: number } = {}) {
  const told: LoopResult['end'][] = []
  const waits: number[] = []
  const stop = new AbortController()
  const ended = runOnSchedule(async () => result(ends.shift() ?? 'iterations'), {
    everyMs: 60_000,
    signal: stop.signal,
    onResult: ({ end }) => void told.push(end),
    sleep: async (delayMs) => {
      waits.push(delayMs)
      if (waits.length === more.stopIn) stop.abort()
    },
  })
  return { ended, told, waits }
}

it('begins again after the time given while nothing new was collected, and ends when nothing improves', async () => {
  const { ended, told, waits } = schedule(['no-new-episodes', 'no-new-episodes', 'no-improvement', 'no-new-episodes'])
  expect(await ended).toEqual(result('no-improvement'))
  expect([told, waits]).toEqual([
    ['no-new-episodes', 'no-new-episodes', 'no-improvement'],
    [60_000, 60_000],
  ])
})

it('ends when all iterations are done, without waiting', async () => {
  const { ended, waits } = schedule(['iterations'])
  expect([await ended, waits]).toEqual([result('iterations'), []])
})

it('ends when it is interrupted while it waits', async () => {
  const { ended, told } = schedule(['no-new-episodes', 'no-new-episodes'], { stopIn: 1 })
  expect([await ended, told]).toEqual([result('no-new-episodes'), ['no-new-episodes']])
})

it('waits on the system’s clock no longer than it is let', async () => {
  const stop = new AbortController()
  const ended = runOnSchedule(async () => result('no-new-episodes'), {
    everyMs: 3_600_000,
    signal: stop.signal,
    onResult: () => stop.abort(),
  })
  expect(await ended).toEqual(result('no-new-episodes'))
})
