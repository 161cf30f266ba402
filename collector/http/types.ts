// What every route is given.
import type { ByteBudget } from './byte-budget.ts'
import type { Guard } from './guard.ts'

export interface RouteContext {
  /** Largest body, opened. */
  maxBytes: number
  budget: ByteBudget
  log: Log
  guard: Guard
}

/** The five methods that are used of a logger; pino's fit. Never prompt content, never keys. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  fatal(fields: object, message: string): void
}
