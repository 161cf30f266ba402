// Asks over HTTP and waits for the answer without giving the event loop a turn: a worker makes the request while this thread sleeps.
import { nodeWorkers } from './late-modules.ts'

export type Answer = { [key: string]: unknown }

const program = `
  const { workerData: { answered, port } } = require('node:worker_threads')
  port.on('message', async ({ number, url, key, body }) => {
    let answer
    try {
      const response = await fetch(url, { method: 'POST', headers: { authorization: 'Bearer ' + key, 'content-type': 'application/json' }, body })
      answer = await response.json()
    } catch (error) {
      answer = { error: { name: 'Error', message: String(error.cause?.message ?? error.message) } }
    }
    port.postMessage({ number, answer })
    Atomics.add(answered, 0, 1)
    Atomics.notify(answered, 0)
  })`

export class SynchronousRequests {
  /** How many answers have come. */
  private readonly answered = new Int32Array(new SharedArrayBuffer(4))
  private readonly port = this.startWorker()
  private readonly waitMs: number
  private asked = 0

  constructor(waitMs = 30_000) {
    this.waitMs = waitMs
  }

  /** POSTs JSON. What went wrong is an answer too: `{ error: { name, message } }`. */
  request(url: string, key: string, body: string): Answer {
    this.asked += 1
    const number = this.asked
    this.port.postMessage({ number, url, key, body })
    for (;;) {
      const before = Atomics.load(this.answered, 0)
      const received: { message?: { number: number; answer: unknown } } | undefined = nodeWorkers().receiveMessageOnPort(this.port)
      // One that was given up on may still be answered: that is not the answer to this one.
      if (received?.message?.number === number) return asAnswer(received.message.answer)
      if (received === undefined && Atomics.wait(this.answered, 0, before, this.waitMs) === 'timed-out')
        return { error: { name: 'Error', message: `no answer within ${this.waitMs / 1000} s` } }
    }
  }

  private startWorker() {
    const { port1, port2 } = new (nodeWorkers().MessageChannel)()
    const worker = new (nodeWorkers().Worker)(program, {
      eval: true,
      execArgv: [],
      workerData: { answered: this.answered, port: port2 },
      transferList: [port2],
    })
    worker.unref()
    port1.unref()
    return port1
  }
}

function asAnswer(value: unknown): Answer {
  return typeof value === 'object' && value !== null ? { ...value } : { error: { name: 'Error', message: 'no answer' } }
}
