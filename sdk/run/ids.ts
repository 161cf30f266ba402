// Random ids of spans and traces, drawn from a pool: asking the system for each costs more than the rest of a span.
import { randomFillSync } from 'node:crypto'

export interface Ids {
  /** 32 hex. */
  traceId(): string
  /** 16 hex. */
  spanId(): string
}

export function randomIds(): Ids {
  const bytes = Buffer.alloc(4096)
  let pool = ''
  let at = 0
  const draw = (length: number): string => {
    if (at + length > pool.length) {
      pool = randomFillSync(bytes).toString('hex')
      at = 0
    }
    at += length
    return pool.slice(at - length, at)
  }
  return { traceId: () => draw(32), spanId: () => draw(16) }
}
