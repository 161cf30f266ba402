// What a rollout's code runs in: its clock, its dice and its guard, found by whatever it calls, however deep. Outside of it everything is the system's own.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { HomegroundError } from '@homeground/sdk/trace'
import type { VirtualClock } from './virtual-clock.ts'

export interface RolloutScope {
  clock: VirtualClock
  /** In [0, 1), from the rollout's seed. */
  random(): number
  /** Host names (with or without a port) that may be reached. */
  allowNetwork: readonly string[]
  /** Processes and threads of the product's own may be started. */
  allowProcesses: boolean
  /** The product tried what is not allowed: ends the rollout. */
  blocked(reason: HomegroundError): void
}

export const rolloutScope = new AsyncLocalStorage<RolloutScope>()

/** Runs our own work (a model call to the arm, a wait) with the system's clock and network. */
export function outsideScope<T>(work: () => T): T {
  return rolloutScope.exit(work)
}
