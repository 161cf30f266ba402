// Worker threads that play rollouts. A worker that dies takes down what it was playing; each of those is played once more alone, and the one that kills its worker again is the failed rollout.
import { Worker } from 'node:worker_threads'
import { rounded } from './episode-recorder.ts'
import type { RolloutExecutor } from './executor.ts'
import { failedResult } from './failed-result.ts'
import type { RolloutJob, RolloutResult } from './types.ts'
import { errorOfFault, type FromWorker, type ToWorker } from './worker-messages.ts'

export interface WorkerPoolOptions {
  threads: number
  /** A rollout that is not back so long after this, and a while, hangs in a loop that no signal ends. */
  timeoutMs: number
  signal?: AbortSignal
  /** Told of a thread that has ended, by its id. */
  onThreadDeath?(threadId: number): void
}

interface Pending {
  job: RolloutJob
  /** Played alone, since a worker died with it. */
  alone: boolean
  startedMs: number
  timer: NodeJS.Timeout | undefined
  hung: boolean
  resolve(result: RolloutResult): void
  reject(error: unknown): void
}

interface Thread {
  worker: Worker
  playing: Map<number, Pending>
  /** Its only rollout killed a worker before. */
  alone: boolean
}

const graceMs = 5_000
/** What a product may take to load. */
const loadMs = 300_000

export class WorkerPool implements RolloutExecutor {
  readonly #options: WorkerPoolOptions
  readonly #threads: Thread[] = []
  #nextId = 1
  #closed = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    options.signal?.addEventListener('abort', this.#abort, { once: true })
  }

  run(job: RolloutJob): Promise<RolloutResult> {
    return new Promise((resolve, reject) => {
      this.#play({ job, alone: false, startedMs: performance.now(), timer: undefined, hung: false, resolve, reject })
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#options.signal?.removeEventListener('abort', this.#abort)
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()))
  }

  readonly #abort = (): void => {
    for (const { worker } of this.#threads) worker.postMessage({ kind: 'abort' } satisfies ToWorker)
  }

  #play(pending: Pending): void {
    const thread = this.#threadFor(pending)
    const id = this.#nextId++
    thread.playing.set(id, pending)
    this.#watch(thread, pending, loadMs)
    thread.worker.postMessage({ kind: 'play', id, job: pending.job } satisfies ToWorker)
  }

  /** A loop that never yields answers no message: its thread is ended. */
  #watch(thread: Thread, pending: Pending, ms: number): void {
    clearTimeout(pending.timer)
    pending.timer = setTimeout(() => {
      pending.hung = true
      void thread.worker.terminate()
    }, ms)
  }

  /** The least busy shared thread; a new one while there may be more. */
  #threadFor(pending: Pending): Thread {
    if (pending.alone) return this.#start(true)
    const shared = this.#threads.filter((thread) => !thread.alone)
    const [least] = shared.sort((a, b) => a.playing.size - b.playing.size)
    if (least === undefined || (least.playing.size > 0 && shared.length < this.#options.threads)) return this.#start(false)
    return least
  }

  #start(alone: boolean): Thread {
    const worker = new Worker(workerFile(), { stdout: true, stderr: true })
    // What the product prints is not the command's answer.
    for (const stream of [worker.stdout, worker.stderr]) stream.on('data', (chunk) => process.stderr.write(chunk))
    const thread: Thread = { worker, playing: new Map(), alone }
    let death = 'it ended its process'
    worker.on('message', (message: FromWorker) => this.#answered(thread, message))
    worker.on('error', (error) => {
      death = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    })
    const { threadId } = worker
    worker.on('exit', () => {
      this.#options.onThreadDeath?.(threadId)
      this.#died(thread, death)
    })
    this.#threads.push(thread)
    return thread
  }

  #answered(thread: Thread, message: FromWorker): void {
    const pending = thread.playing.get(message.id)
    if (pending === undefined) return
    if (message.kind === 'begun') {
      this.#watch(thread, pending, this.#options.timeoutMs + graceMs)
      return
    }
    if (message.kind === 'waiting') {
      clearTimeout(pending.timer)
      return
    }
    thread.playing.delete(message.id)
    clearTimeout(pending.timer)
    if (message.kind === 'result') pending.resolve(message.result)
    else pending.reject(errorOfFault(message.fault))
    if (thread.alone) this.#end(thread)
  }

  #end(thread: Thread): void {
    this.#threads.splice(this.#threads.indexOf(thread), 1)
    void thread.worker.terminate()
  }

  #died(thread: Thread, death: string): void {
    const index = this.#threads.indexOf(thread)
    if (index !== -1) this.#threads.splice(index, 1)
    const victims = [...thread.playing.values()]
    thread.playing.clear()
    for (const pending of victims) {
      clearTimeout(pending.timer)
      if (this.#closed) pending.reject(new Error('the worker threads were closed'))
      else if (pending.alone || victims.length === 1) pending.resolve(this.#failed(pending, death))
      else this.#play({ ...pending, alone: true, hung: false, startedMs: performance.now() })
    }
  }

  #failed({ job, startedMs, hung }: Pending, death: string): RolloutResult {
    const durationMs = rounded(performance.now() - startedMs)
    const error = hung
      ? { type: 'timeout', message: `the rollout took longer than ${this.#options.timeoutMs} ms and answered no signal` }
      : { type: 'crash', message: `the product took its thread down: ${death}` }
    return failedResult(job, { stop: hung ? 'timeout' : 'error', error, durationMs })
  }
}

/** Threads run what is compiled: sources run in tests only. */
function workerFile(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? '../../dist/replay/harness/module-worker.js' : './module-worker.js', import.meta.url)
}
