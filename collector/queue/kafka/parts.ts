// A value over the broker's limit travels as parts in one partition, and is put together again by whoever reads that partition. Parts may come twice, in any order and
// between others; what is missing parts for longer than a sender ever tries was never acknowledged:
// it becomes a dead letter, so that it does not hold its partition's commit.
import { randomUUID } from 'node:crypto'
import type { IHeaders } from 'kafkajs'

/** Header: which value this is a part of. */
const payloadHeader = 'homeground-payload'
/** Header: `2/5`, the second of five. */
const partHeader = 'homeground-part'
/** So many finished values are remembered, so that a part that comes again is known for what it is. */
const remembered = 1_000
/** More would be no payload of ours: a body is 512 MiB at most. */
const mostParts = 200_000

export interface Part {
  headers: Record<string, string>
  value: Buffer
}

/** The value in pieces of `maxBytes`. */
export function splitIntoParts(value: Buffer, maxBytes: number): Part[] {
  const of = Math.ceil(value.length / maxBytes)
  const payload = randomUUID()
  return Array.from({ length: of }, (_, n) => ({
    headers: { [payloadHeader]: payload, [partHeader]: `${n + 1}/${of}` },
    value: value.subarray(n * maxBytes, (n + 1) * maxBytes),
  }))
}

/** What the joiner is shown of a message. */
export interface PartMessage {
  headers?: IHeaders | undefined
  key?: Buffer | null
  value: Buffer | null
  offset: string
  /** Milliseconds since the epoch, as the broker has it. */
  timestamp: string
}

interface Unfinished {
  parts: (Buffer | undefined)[]
  missing: number
  firstOffset: bigint
  firstTime: number
  /** When its first part was read here. */
  readAt: number
  trace: string
}

/** A value of which some parts never came. */
export interface AbandonedValue {
  payload: string
  /** Of its first part. */
  offset: bigint
  trace: string
  /** What there is of it, in order. */
  value: Buffer
  parts: number
  of: number
}

/** `log`: milliseconds since the epoch, of the newest message that was read. `read`: monotonic milliseconds, of now; given where all that there is has been read. */
export interface PartClock {
  log: number
  read?: number
}

/** Puts together the parts of one partition. What is whole stays until `settle`, so that a slice can be read again. */
export class PartJoiner {
  readonly #open = new Map<string, Unfinished>()
  readonly #settled = new Set<string>()
  readonly #now: () => number

  /** `now`: monotonic milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** The message's value; for a part the whole value with its last part, undefined before and where it has been settled. @throws Error for headers that make no sense */
  add(message: PartMessage): Buffer | undefined {
    const value = message.value ?? Buffer.alloc(0)
    const payload = header(message.headers, payloadHeader)
    if (payload === undefined) return value
    if (this.#settled.has(payload)) return undefined
    const [n = 0, of = 0] = (/^(\d{1,6})\/(\d{1,6})$/.exec(header(message.headers, partHeader) ?? '') ?? []).slice(1).map(Number)
    if (n < 1 || n > of || of > mostParts) throw new Error('the part says neither which it is nor of how many')
    const unfinished = this.#open.get(payload) ?? {
      parts: new Array<Buffer | undefined>(of),
      missing: of,
      firstOffset: BigInt(message.offset),
      firstTime: Number(message.timestamp),
      readAt: this.#now(),
      trace: message.key?.toString() ?? '',
    }
    this.#open.set(payload, unfinished)
    if (unfinished.parts.length !== of) throw new Error('two parts differ on how many there are')
    if (unfinished.parts[n - 1] === undefined) {
      unfinished.parts[n - 1] = value
      unfinished.missing -= 1
    }
    return unfinished.missing > 0 ? undefined : Buffer.concat(unfinished.parts.filter((part) => part !== undefined))
  }

  /** What is whole has been stored: its parts are needed no more. */
  settle(): void {
    for (const [payload, { missing }] of this.#open) {
      if (missing > 0) continue
      this.#open.delete(payload)
      this.#settled.add(payload)
      const [oldest] = this.#settled
      if (this.#settled.size > remembered && oldest !== undefined) this.#settled.delete(oldest)
    }
  }

  /** The offset of the earliest part whose value is not settled: nothing from there on may be committed. */
  earliestOffset(): bigint | undefined {
    let earliest: bigint | undefined
    for (const { firstOffset } of this.#open.values()) if (earliest === undefined || firstOffset < earliest) earliest = firstOffset
    return earliest
  }

  /** Values that nobody is still sending: whoever sent them was never answered. They stay until `forget`. */
  overdue(clock: PartClock, limitMs: number): AbandonedValue[] {
    return [...this.#open].flatMap(([payload, { firstOffset, firstTime, readAt, trace, missing, parts }]) => {
      // A reader that is behind has not seen the parts that followed: then the log's own time counts.
      const isOver = clock.log - firstTime >= limitMs || (clock.read !== undefined && clock.read - readAt >= limitMs)
      if (missing === 0 || !isOver) return []
      const value = Buffer.concat(parts.filter((part) => part !== undefined))
      return [{ payload, offset: firstOffset, trace, value, parts: parts.length - missing, of: parts.length }]
    })
  }

  /** They are kept elsewhere: what may be committed no longer waits for them. */
  forget(abandoned: readonly AbandonedValue[]): void {
    for (const { payload } of abandoned) this.#open.delete(payload)
  }
}

/** One header as text; undefined where it is not there. */
export function header(headers: IHeaders | undefined, name: string): string | undefined {
  const value = headers?.[name]
  const one = Array.isArray(value) ? value[0] : value
  return one === undefined ? undefined : one.toString()
}
