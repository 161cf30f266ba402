// Ids and random numbers of a rollout, from its seed: the same run gives the same again, whatever runs beside it.
import { canonicalHash, sha256Hex } from '@homeground/sdk/trace'
import type { Arm } from '../run/types.ts'

/** What makes a rollout this rollout and no other. */
export function rolloutSeed(job: { seed: number; task: { id: string }; arm: Arm; repeat: number }): string {
  return `${job.seed}\n${job.task.id}\n${canonicalHash(JSON.parse(JSON.stringify(job.arm)))}\n${job.repeat}`
}

/** Trace id (32 hex) and span ids (16 hex), in order of asking. */
export function seededIds(seed: string): { trace: string; span(): string } {
  let next = 0
  return {
    trace: sha256Hex(`trace\n${seed}`).slice(0, 32),
    span() {
      next += 1
      return sha256Hex(`span\n${seed}\n${next}`).slice(0, 16)
    },
  }
}

/** Numbers in [0, 1), by mulberry32: fast, and good enough for a product's dice. */
export function seededRandom(seed: string): () => number {
  let state = Number.parseInt(sha256Hex(`random\n${seed}`).slice(0, 8), 16)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
