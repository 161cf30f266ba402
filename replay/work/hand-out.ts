// Hands a run's rollouts to workers and keeps what they report. What was played while nobody gathered (a run that was killed, a worker that went on) is read first and kept, so that it is not
// played again; a result that comes twice is kept once.
import { randomUUID } from 'node:crypto'
import { HomegroundError } from '@homeground/sdk/trace'
import type { OpenPlayers } from '../run/run-rollouts.ts'
import type { WorkChannel, WorkTopics } from './channel.ts'
import { type Fault, type Job, type Mark, type Report, readReport, writeJob, writeReport } from './messages.ts'

export interface HandOutOptions {
  channel: WorkChannel
  topics: WorkTopics
  /** Told once where nobody is there to play. */
  onIdle?(): void
}

interface Waiting {
  resolve(): void
  reject(error: unknown): void
}

export function handOut({ channel, topics, onIdle }: HandOutOptions): OpenPlayers {
  return async ({ file, allowLive, keep, isComplete, signal }) => {
    const id = randomUUID()
    const group = `${topics.results}.${file.id}`
    const waiting = new Map<number, Waiting>()
    const partitions = await channel.partitions(topics.jobs)
    const busy = new Array<number>(partitions).fill(0)
    const { tasks, arms, repeats } = file
    const size = tasks.length * arms.length * repeats

    const resultPartitions = await channel.partitions(topics.results)
    const [caughtUp, onMark] = gate(resultPartitions)
    const take = async (report: Report): Promise<void> => {
      if (report.run !== file.id) return
      switch (report.kind) {
        case 'mark':
          if (report.handOut === id) onMark()
          return
        case 'fault':
          if (report.handOut === id) for (const one of waiting.values()) one.reject(errorOf(report))
          return
        case 'rollout':
          if (report.index >= size) return
          await keep(report.index, report.rollout, report.episode)
          waiting.get(report.index)?.resolve()
      }
    }
    const receiver = await channel.receive({
      topic: topics.results,
      group,
      from: 'end',
      handle: async (value) => {
        // A report that cannot be read is of another version's run, or none.
        const report = quietly(() => readReport(value))
        try {
          if (report !== undefined) await take(report)
        } catch (error) {
          for (const one of waiting.values()) one.reject(error)
          throw error
        }
      },
    })
    try {
      const mark: Mark = { format: 1, kind: 'mark', run: file.id, handOut: id }
      for (let partition = 0; partition < resultPartitions; partition += 1)
        await channel.send(topics.results, { key: file.id, value: writeReport(mark), partition })
      await Promise.race([caughtUp, aborted(signal)])
      if ((await channel.members(topics.group)) === 0) onIdle?.()
    } catch (error) {
      await receiver.close()
      throw error
    }

    return {
      async play(index, { task, arm, repeat }) {
        const partition = leastBusy(busy)
        busy[partition] = (busy[partition] ?? 0) + 1
        const stop = () => waiting.get(index)?.reject(signal.reason)
        signal.addEventListener('abort', stop, { once: true })
        try {
          const reported = new Promise<void>((resolve, reject) => waiting.set(index, { resolve, reject }))
          // Rejected while it is being sent, it has nobody yet who listens.
          reported.catch(() => {})
          const { id: run, harness, seed, latency } = file
          const job: Job = {
            format: 1,
            run,
            handOut: id,
            index,
            environment: file.environment,
            harness,
            seed,
            ...(latency === undefined ? {} : { latency }),
            allowLive: [...allowLive],
            task,
            arm,
            repeat,
          }
          await channel.send(topics.jobs, { key: `${run}/${index}`, value: writeJob(job), partition })
          await reported
        } finally {
          signal.removeEventListener('abort', stop)
          waiting.delete(index)
          busy[partition] = (busy[partition] ?? 1) - 1
        }
      },
      async close() {
        await receiver.close()
        if (isComplete()) await channel.forget(group)
      },
    }
  }
}

/** The first of those with the fewest jobs: a worker has every so-manieth partition, so neighbours are played by different ones. */
function leastBusy(busy: readonly number[]): number {
  return busy.reduce((least, count, partition) => (count < (busy[least] ?? 0) ? partition : least), 0)
}

/** Resolved when it has been passed so many times. */
function gate(times: number): [Promise<void>, () => void] {
  let left = times
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return [
    opened,
    () => {
      left -= 1
      if (left <= 0) open()
    },
  ]
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function errorOf({ worker, code, message, hint }: Fault): HomegroundError {
  return new HomegroundError('worker-fault', `worker ${worker} cannot play this run: ${message} (${code})`, {
    hint: `on that worker: ${hint}`,
  })
}

function quietly<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
