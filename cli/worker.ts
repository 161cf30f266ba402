// `homeground worker`: plays the rollouts that `homeground run --workers` hands out, until it is stopped.
import os from 'node:os'
import path from 'node:path'
import { type Command, Option } from 'commander'
import { pino } from 'pino'
import { collectorSettings } from '../collector/index.ts'
import { readPrices } from '../replay/rubric/index.ts'
import { systemDeps } from '../replay/run/system-deps.ts'
import { openSites, startWorker } from '../replay/work/index.ts'
import { readSettings } from '../store/index.ts'
import { keepHeapLean } from './lean-heap.ts'
import { countOf } from './option-values.ts'
import { interruptSignal } from './progress.ts'
import { wantsJson } from './store-options.ts'
import { openWork } from './work-queue.ts'

interface WorkerCommandOptions {
  env: string[]
  concurrency: number
  name: string
  cache?: string
  cacheShare: 'repeat' | 'any'
}

export function register(program: Command): void {
  program
    .command('worker')
    .description('play the rollouts that `homeground run --workers` hands out over Kafka (HOMEGROUND_KAFKA_*), until it is stopped')
    .option('--env <FOLDER...>', 'environments on this machine; a run is played in the one with its hash', [])
    .option('--concurrency <N>', 'rollouts at a time', countOf, 4)
    .option(
      '--cache <FOLDER>',
      'take answers of models from there, where the same was asked by the same repeat and seed, and keep them there',
    )
    .addOption(new Option('--cache-share <WHICH>', 'any: one answer for all repeats').choices(['repeat', 'any']).default('repeat'))
    .option('--name <NAME>', 'what a run calls it when it complains', `${os.hostname()}/${process.pid}`)
    .action(async (options: WorkerCommandOptions, command: Command) => {
      keepHeapLean()
      const { HOMEGROUND_LOG_LEVEL: level } = readSettings(collectorSettings, process.env)
      const log = pino({ level, base: null }, pino.destination({ fd: 2, sync: true }))
      const stop = interruptSignal()
      const { concurrency, name, env: folders, cacheShare: share } = options
      const cache = options.cache === undefined ? {} : { cache: { folder: path.resolve(options.cache), share } }
      const sites = openSites({ folders, concurrency, prices: readPrices(), deps: systemDeps(), ...cache })
      const work = await openWork(log)
      try {
        const worker = await startWorker({
          ...work,
          sites,
          name,
          concurrency,
          onEvent: ({ kind, ...fields }) => (kind === 'played' ? log.info(fields, 'played') : log.error(fields, kind)),
        })
        process.stdout.write(
          wantsJson(command) ? `${JSON.stringify({ name, pid: process.pid })}\n` : `worker ${name}: waiting for rollouts\n`,
        )
        await new Promise<void>((resolve) => {
          if (stop.aborted) resolve()
          stop.addEventListener('abort', () => resolve(), { once: true })
        })
        await worker.close()
      } finally {
        await sites.close()
        await work.channel.close()
      }
    })
}
