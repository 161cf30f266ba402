// The outside world of a rollout, as the system gives it. Everything that replays must be able to control comes in through here.
import { setTimeout as sleep } from 'node:timers/promises'
import type { RolloutDeps } from '../harness/types.ts'

export function systemDeps(): RolloutDeps {
  return {
    fetch: globalThis.fetch,
    env: process.env,
    now: Date.now,
    monotonicMs: () => performance.now(),
    random: Math.random,
    sleep: async (ms, signal) => {
      await sleep(ms, undefined, signal === undefined ? {} : { signal })
    },
  }
}
