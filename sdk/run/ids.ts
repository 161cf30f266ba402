// Random ids of spans and traces, drawn from a pool: asking the system for each costs more than the rest of a span.
import { nodeCrypto } from './late-modules.ts'

export interface Ids {
  /** 32 hex. */
  traceId(): string
  /** 16 hex. */
  spanId(): string
}

export function randomIds(): Ids {
  const bytes = Buffer.alloc(4096)
  // The first ones at once: what has to be loaded for them must not hold up the first call.
  let pool = nodeCrypto().randomFillSync(bytes).toString('hex')
  let at = 0
  const draw = (length: number): string => {
    if (at + length > pool.length) {
      pool = nodeCrypto().randomFillSync(bytes).toString('hex')
      at = 0
    }
    at += length
    return pool.slice(at - length, at)
  }
  return { traceId: () => draw(32), spanId: () => draw(16) }
}
