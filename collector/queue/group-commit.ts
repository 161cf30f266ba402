// Group commit: what arrives while an insert is under way goes together into the next one, so that many small requests make few inserts,
// and a lone request waits for nobody. Each caller learns the fate of its own rows' insert.

export interface GroupCommitOptions<Row> {
  /** Makes the rows durable. May be called again while an earlier call runs, up to `concurrency`. */
  commit(rows: readonly Row[]): Promise<void>
  /** @default 2 */
  concurrency?: number
  /**
   * A group of so many rows begins at once, beside another that runs; a smaller one waits for that one's end, and a moment longer for what
   * its callers send next: the fixed cost of a commit would be most of it. @default 1000
   */
  largeRows?: number
  /** … unless fewer than so many run. @default 1 */
  smallConcurrency?: number
  /** A group is full at this many rows. @default 5000 */
  maxRows?: number
  /** … or at this many bytes. @default 16 MiB */
  maxBytes?: number
  /** Least time between the beginnings of two commits of a few rows: bounds the number of small inserts. The more rows, the less; none from half of `largeRows` on. @default 100 */
  spacingMs?: number
  /** Monotonic milliseconds. @default performance.now */
  now?: () => number
}

interface Waiting<Row> {
  rows: readonly Row[]
  bytes: number
  resolve(): void
  reject(error: unknown): void
}

export class GroupCommit<Row> {
  readonly #commit: (rows: readonly Row[]) => Promise<void>
  readonly #limits: {
    concurrency: number
    smallConcurrency: number
    largeRows: number
    maxRows: number
    maxBytes: number
    spacingMs: number
  }
  readonly #now: () => number
  #waiting: Waiting<Row>[] = []
  #waitingRows = 0
  #waitingBytes = 0
  #running = 0
  #lastBegin = Number.NEGATIVE_INFINITY
  /** When a small group begins at the latest, so that those who were just answered can be in it; it begins when all of them are back. */
  #gatheredAt = Number.NEGATIVE_INFINITY
  /** Rows that waited when the last commit ended, and those that it held. */
  #expectedRows = 0
  #timer: NodeJS.Timeout | undefined
  #idle: (() => void)[] = []

  constructor(options: GroupCommitOptions<Row>) {
    this.#commit = options.commit
    this.#now = options.now ?? (() => performance.now())
    this.#limits = {
      concurrency: options.concurrency ?? 2,
      smallConcurrency: options.smallConcurrency ?? 1,
      largeRows: Math.min(options.largeRows ?? 1_000, options.maxRows ?? 5_000),
      maxRows: options.maxRows ?? 5_000,
      maxBytes: options.maxBytes ?? 16 * 1024 * 1024,
      spacingMs: options.spacingMs ?? 100,
    }
  }

  /** Resolves when these rows are committed; rejects with the error of the commit that they were part of. */
  add(rows: readonly Row[], bytes: number): Promise<void> {
    if (rows.length === 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ rows, bytes, resolve, reject })
      this.#waitingRows += rows.length
      this.#waitingBytes += bytes
      this.#pump()
    })
  }

  /** Resolves when nothing waits and nothing runs. */
  drained(): Promise<void> {
    if (this.#running === 0 && this.#waiting.length === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  #pump(): void {
    while (this.#waiting.length > 0 && this.#running < this.#limits.concurrency) {
      const isLarge = this.#waitingRows >= this.#limits.largeRows || this.#waitingBytes >= this.#limits.maxBytes
      if (!isLarge) {
        if (this.#running >= this.#limits.smallConcurrency) return
        const gathered = this.#waitingRows >= this.#expectedRows ? Number.NEGATIVE_INFINITY : this.#gatheredAt
        const wait = Math.max(this.#lastBegin + this.#spacing(), gathered) - this.#now()
        if (wait > 0) {
          clearTimeout(this.#timer)
          this.#timer = setTimeout(() => {
            this.#timer = undefined
            this.#pump()
          }, wait)
          return
        }
      }
      void this.#run(this.#take())
    }
  }

  /** What many small callers send together is worth its insert: waiting longer would only leave the store idle. */
  #spacing(): number {
    return this.#limits.spacingMs * Math.max(0, 1 - (2 * this.#waitingRows) / this.#limits.largeRows)
  }

  /** As many requests as fill a group; never part of one. */
  #take(): Waiting<Row>[] {
    let rows = 0
    let bytes = 0
    let count = 0
    for (const waiting of this.#waiting) {
      if (count > 0 && (rows + waiting.rows.length > this.#limits.maxRows || bytes + waiting.bytes > this.#limits.maxBytes)) break
      rows += waiting.rows.length
      bytes += waiting.bytes
      count += 1
    }
    this.#waitingRows -= rows
    this.#waitingBytes -= bytes
    return this.#waiting.splice(0, count)
  }

  async #run(group: Waiting<Row>[]): Promise<void> {
    this.#running += 1
    const begin = this.#now()
    this.#lastBegin = begin
    try {
      await this.#commit(group.flatMap(({ rows }) => rows))
      for (const { resolve } of group) resolve()
    } catch (error) {
      for (const { reject } of group) reject(error)
    } finally {
      this.#running -= 1
      const end = this.#now()
      // Half of what the commit took: little beside it, and time enough for the next request of whoever waited for it.
      this.#gatheredAt = end + Math.min((end - begin) / 2, this.#limits.spacingMs)
      this.#expectedRows = group.reduce((sum, { rows }) => sum + rows.length, this.#waitingRows)
      this.#pump()
      if (this.#running === 0 && this.#waiting.length === 0) for (const resolve of this.#idle.splice(0)) resolve()
    }
  }
}
