// What a fault run can be told: --kills N (default 24), --seed N, --keep (leave the folder).
import { parseArgs } from 'node:util'

export interface FaultOptions {
  /** kill -9 in all, over both kinds of queue. */
  kills: number
  seed: number
  /** Leave the folder with data and logs. */
  keep: boolean
}

export function readOptions(args: string[]): FaultOptions {
  const { values } = parseArgs({ args, options: { kills: { type: 'string' }, seed: { type: 'string' }, keep: { type: 'boolean' } } })
  const number = (name: 'kills' | 'seed', fallback: number, least: number) => {
    const value = values[name] === undefined ? fallback : Number(values[name])
    if (!Number.isInteger(value) || value < least) throw new Error(`--${name} is a whole number from ${least} on`)
    return value
  }
  return { kills: number('kills', 24, 2), seed: number('seed', Date.now() % 1_000_000, 0), keep: values.keep === true }
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
