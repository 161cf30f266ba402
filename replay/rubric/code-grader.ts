// Graders of type `code`: a function in a file beside the environment, run in a worker thread that is ended when its time is up.
// The thread guards against loops, crashes and memory; it is no sandbox: the file is as trusted as the environment it came with.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { type Episode, HomegroundError, type Json } from '@homeground/sdk/trace'
import { z } from 'zod'
import type { Task, ToolSettings } from '../environment/types.ts'
import type { CriterionOf, Score } from './types.ts'

/** A number or boolean, `{ value, reason? }`, or null for no score. */
const answerSchema = z.union([
  z.number(),
  z.boolean(),
  z.null(),
  z.strictObject({ value: z.union([z.number(), z.boolean(), z.null()]), reason: z.string().optional() }),
])

type Reply = { kind: 'answer'; value: unknown } | { kind: 'threw'; message: string } | { kind: 'unloadable'; message: string }

export interface CodeInput {
  episode: Episode
  task: Task
  tools: Record<string, ToolSettings>
}

/** Threads by file, kept between episodes. Close them when done; they do not keep the process alive. */
export class CodeGraders {
  readonly #folder: string
  readonly #threads = new Map<string, Thread>()

  /** @param folder the environment folder, which `code` paths are relative to */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** @throws HomegroundError environment-invalid where the file or its function is not there */
  async grade(criterion: CriterionOf<'code'>, input: CodeInput): Promise<Score> {
    const { weight, timeoutMs, code } = criterion
    const [file = '', name = 'default'] = code.split('#')
    const at = path.resolve(this.#folder, file)
    const thread = this.#threads.get(at) ?? new Thread(at)
    this.#threads.set(at, thread)
    const reply = await thread.ask(name, [input.episode, input.task, input.tools], timeoutMs)
    switch (reply.kind) {
      case 'answer':
        return scoreOf(reply.value, weight, code)
      case 'threw':
        return { value: null, weight, reason: `${code} threw: ${reply.message}` }
      case 'timeout':
        return { value: null, weight, reason: `${code} did not answer within ${timeoutMs} ms` }
      case 'unloadable':
        throw new HomegroundError('environment-invalid', `criterion "${criterion.name}": ${code} cannot be used: ${reply.message}`, {
          hint: `code is FILE#FUNCTION, a JavaScript module relative to ${this.#folder} that exports (episode, task, tools) => number`,
        })
      default:
        return reply satisfies never
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#threads.values()].map((thread) => thread.end()))
    this.#threads.clear()
  }
}

/** One file in one thread, asked one question at a time. */
class Thread {
  readonly #file: string
  #worker: Worker | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(file: string) {
    this.#file = file
  }

  ask(name: string, given: readonly unknown[], timeoutMs: number): Promise<Reply | { kind: 'timeout' }> {
    const answer = this.#last.then(() => this.#askNow(name, given, timeoutMs))
    this.#last = answer.catch(() => undefined)
    return answer
  }

  async end(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  async #askNow(name: string, given: readonly unknown[], timeoutMs: number): Promise<Reply | { kind: 'timeout' }> {
    const worker = this.#worker ?? this.#start()
    worker.ref()
    const reply = await ask(worker, { name, given }, timeoutMs)
    worker.unref()
    // What has not answered in time may still be running; what crashed is gone; a file that was mended is loaded anew.
    if (reply.kind !== 'answer') await this.end()
    return reply
  }

  #start(): Worker {
    const worker = startThread(this.#file)
    this.#worker = worker
    // A grader may answer and crash afterwards: the next question is another thread's.
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
    })
    return worker
  }
}

function startThread(file: string): Worker {
  const worker = new Worker(threadSource, {
    eval: true,
    workerData: pathToFileURL(file).href,
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  })
  // One that nobody listens to must not become an uncaught exception.
  worker.on('error', () => {})
  return worker
}

function ask(
  worker: Worker,
  question: { name: string; given: readonly unknown[] },
  timeoutMs: number,
): Promise<Reply | { kind: 'timeout' }> {
  return new Promise((resolve) => {
    const done = (reply: Reply | { kind: 'timeout' }) => {
      clearTimeout(timer)
      worker.off('message', done).off('error', failed).off('exit', ended)
      resolve(reply)
    }
    const failed = (error: Error) => done({ kind: 'threw', message: error.message })
    const ended = (code: number) => done({ kind: 'threw', message: `its thread ended with ${code}` })
    const timer = setTimeout(() => done({ kind: 'timeout' }), timeoutMs)
    worker.on('message', done).on('error', failed).on('exit', ended)
    worker.postMessage(question)
  })
}

/** Plain JavaScript, since a worker cannot load TypeScript sources. */
const threadSource = `
const { parentPort, workerData } = require('node:worker_threads')
parentPort.on('message', async ({ name, given }) => {
  let grader
  try {
    grader = (await import(workerData))[name]
    if (typeof grader !== 'function') throw new Error('it exports no function ' + name)
  } catch (error) {
    parentPort.postMessage({ kind: 'unloadable', message: String(error?.message ?? error) })
    return
  }
  try {
    parentPort.postMessage({ kind: 'answer', value: (await grader(...given)) ?? null })
  } catch (error) {
    parentPort.postMessage({ kind: 'threw', message: String(error?.message ?? error) })
  }
})`

function scoreOf(answer: unknown, weight: number, code: string): Score {
  const parsed = answerSchema.safeParse(answer)
  if (!parsed.success) return { value: null, weight, reason: `${code} answered neither a number nor { value, reason }: ${shown(answer)}` }
  const { value, reason } =
    typeof parsed.data === 'object' && parsed.data !== null ? parsed.data : { value: parsed.data, reason: undefined }
  if (value === null) return { value: null, weight, reason: reason ?? `${code} gave no score` }
  const number = Number(value)
  if (!(number >= 0 && number <= 1)) return { value: null, weight, reason: `${code} answered ${number}, which is not in [0, 1]` }
  return { value: number, weight, reason: reason ?? code }
}

function shown(value: unknown): string {
  try {
    return (JSON.stringify(value as Json) ?? String(value)).slice(0, 120)
  } catch {
    return typeof value
  }
}
