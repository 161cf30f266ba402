// A worker: plays the rollouts that it is handed, one run or many, and acknowledges each only after its result is durable. One that dies has acknowledged nothing of what it was playing, and another
// takes it over; one that is stopped ends what it plays first.
import { errorText, HomegroundError } from '@homeground/sdk/trace'
import type { WorkChannel, WorkTopics } from './channel.ts'
import { type Fault, type Job, type Report, readJob, writeReport } from './messages.ts'
import type { Sites } from './sites.ts'

export interface WorkerOptions {
  channel: WorkChannel
  topics: WorkTopics
  sites: Sites
  /** What the one who hands out calls it when it complains. */
  name: string
  /** Rollouts at a time. */
  concurrency: number
  onEvent?(event: WorkerEvent): void
}

export type WorkerEvent =
  | { kind: 'played'; run: string; index: number; task: string; arm: string /** Its type. */; error?: string }
  | { kind: 'fault'; run: string; message: string }
  | { kind: 'unreadable'; message: string }

export interface Worker {
  /** Takes no more, ends what it plays, leaves. */
  close(): Promise<void>
}

/** So many rollouts that ended are remembered: one that comes again, since its acknowledgement was lost, is not played again. */
const remembered = 1_000

/** @throws HomegroundError queue-unavailable */
export async function startWorker({ channel, topics, sites, name, concurrency, onEvent = () => {} }: WorkerOptions): Promise<Worker> {
  const slots = new Slots(concurrency)
  const known = new Map<string, Promise<void>>()

  const report = (to: Report): Promise<void> => channel.send(topics.results, { key: to.run, value: writeReport(to) })

  async function play(job: Job): Promise<void> {
    try {
      const { rollout, episode } = await sites.play(job)
      await report({ format: 1, kind: 'rollout', run: job.run, index: job.index, rollout, episode })
      const { task, arm, error } = rollout
      onEvent({ kind: 'played', run: job.run, index: job.index, task, arm, ...(error === undefined ? {} : { error: error.type }) })
    } catch (error) {
      // What is ours to say of a queue that is away is said by the queue; the job stays unacknowledged.
      if (HomegroundError.is(error) && error.code === 'queue-unavailable') throw error
      const fault = faultOf(job, name, error)
      await report(fault)
      onEvent({ kind: 'fault', run: job.run, message: fault.message })
    }
  }

  const receiver = await channel.receive({
    topic: topics.jobs,
    group: topics.group,
    from: 'beginning',
    handle: async (value, signal) => {
      let job: Job
      try {
        job = readJob(value)
      } catch (error) {
        onEvent({ kind: 'unreadable', message: errorText(error) })
        return
      }
      const key = `${job.run}/${job.index}/${job.handOut}`
      // Taken from us and given back while it is being played (the group changed), it is waited for.
      let playing = known.get(key)
      if (playing === undefined) {
        if (!(await slots.take(signal))) return
        playing = play(job).finally(() => slots.give())
        known.set(key, playing)
        playing.catch(() => known.delete(key))
        const [oldest] = known.keys()
        if (known.size > remembered && oldest !== undefined) known.delete(oldest)
      }
      await playing
    },
  })
  return {
    close: async () => {
      await slots.close()
      await receiver.close()
    },
  }
}

function faultOf({ run, handOut }: Job, worker: string, error: unknown): Fault {
  const known = HomegroundError.is(error)
  const message = errorText(error)
  const told = known ? { code: error.code, hint: error.hint } : { code: 'internal', hint: 'look into its log' }
  return { format: 1, kind: 'fault', run, handOut, worker, message, ...told }
}

/** So many at a time; closed, it gives none and waits until those given are back. */
class Slots {
  #free: number
  #taken = 0
  #isClosed = false
  /** Those who wait, and look again when they are woken: some have left by then. */
  readonly #waiting: (() => void)[] = []
  #onEmpty: (() => void) | undefined

  constructor(count: number) {
    this.#free = count
  }

  /** False where the signal came first. */
  async take(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted && (this.#isClosed || this.#free === 0)) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    }
    if (signal.aborted) return false
    this.#free -= 1
    this.#taken += 1
    return true
  }

  give(): void {
    this.#free += 1
    this.#taken -= 1
    for (const wake of this.#waiting.splice(0)) wake()
    if (this.#taken === 0) this.#onEmpty?.()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#taken > 0) {
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve
      })
    }
    // The acknowledgement of the last one is on its way.
    await new Promise((resolve) => setImmediate(resolve))
  }
}
