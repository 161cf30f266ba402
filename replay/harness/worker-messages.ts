// What main thread and workers tell each other. Plain data: it is cloned on the way.
import { type ErrorCode, HomegroundError } from '@homeground/sdk/trace'
import type { RolloutJob, RolloutResult } from './types.ts'

export type ToWorker = { kind: 'play'; id: number; job: RolloutJob } | { kind: 'abort' }

export type FromWorker =
  /** The product is loaded, or has waited for its turn; its time begins to run. */
  | { kind: 'begun'; id: number }
  /** It waits for its turn at an endpoint. */
  | { kind: 'waiting'; id: number }
  | { kind: 'result'; id: number; result: RolloutResult }
  /** What ends the run, not the rollout alone: wrong settings. */
  | { kind: 'fault'; id: number; fault: Fault }

export interface Fault {
  message: string
  code?: ErrorCode
  hint?: string
  stack?: string
}

export function faultOf(error: unknown): Fault {
  if (HomegroundError.is(error)) return { message: error.message, code: error.code, hint: error.hint }
  return error instanceof Error
    ? { message: error.message, ...(error.stack === undefined ? {} : { stack: error.stack }) }
    : { message: String(error) }
}

export function errorOfFault({ message, code, hint, stack }: Fault): Error {
  if (code !== undefined) return new HomegroundError(code, message, { hint: hint ?? '' })
  const error = new Error(message)
  if (stack !== undefined) error.stack = stack
  return error
}
