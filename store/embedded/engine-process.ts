// The engine's own process: ClickHouse out of libchdb.so. The main thread is inside ClickHouse for as long as it serves; this file's second life as a
// worker thread, started before that call, publishes the address once the engine answers and ends the process when nobody uses it.
// Not a command for people: `startEngine` runs it as `engine-process.js '{"folder":…}'`.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { errorText, makeFolder } from '@homeground/sdk/trace'
import { z } from 'zod'
import { addressSchema, type EngineAddress, retire, writeAddress } from './address.ts'
import { answers, greeting } from './answers.ts'
import { writeEngineSettings } from './engine-settings.ts'
import { leaseHolders } from './leases.ts'
import { lockedExit, lockFolder } from './lock.ts'
import { processStart } from './process-identity.ts'

const taskSchema = z.object({
  folder: z.string(),
  library: z.string(),
  port: z.number().int(),
  lingerMs: z.number(),
})
const watchSchema = z.object({
  folder: z.string(),
  lingerMs: z.number(),
  address: addressSchema,
})

if (isMainThread) await serve(taskSchema.parse(JSON.parse(process.argv[2] ?? '')))
else await watchToTheEnd(watchSchema.parse(workerData))

async function serve({ folder, library, port, lingerMs }: z.infer<typeof taskSchema>): Promise<never> {
  // ffi-rs is optional: loaded here, where it is known to be there.
  const { open, load, DataType } = await import('ffi-rs')
  if (!lockFolder(folder, { open, load, DataType })) process.exit(lockedExit)

  const address: EngineAddress = {
    format: 1,
    url: `http://127.0.0.1:${port}`,
    user: 'homeground',
    password: randomBytes(16).toString('hex'),
    pid: process.pid,
    start: processStart(process.pid) ?? '',
  }
  const settings = writeEngineSettings(folder, { ...address, greeting: greeting(address) })
  // ClickHouse keeps `system` in memory; what an earlier engine left on disk would stand in the way of its log tables.
  const data = path.join(folder, 'clickhouse')
  makeFolder(data, { mode: 0o700 })
  fs.rmSync(path.join(data, 'data', 'system'), { recursive: true, force: true })

  const watcher = new Worker(new URL(import.meta.url), { workerData: { folder, lingerMs, address } })
  await new Promise<void>((resolve, reject) => {
    watcher.once('online', resolve)
    watcher.once('error', reject)
  })

  open({ library: 'chdb', path: library })
  const argv = [
    'clickhouse',
    `--config-file=${settings}`,
    `--path=${data}`,
    `--http_port=${port}`,
    '--listen_host=127.0.0.1',
    '--query',
    // `chdb_query_cmdline` is `clickhouse local`, which serves for as long as its statement runs.
    'SYSTEM START LISTEN HTTP; SELECT sleepEachRow(0.5) FROM system.numbers FORMAT Null SETTINGS max_block_size=1, max_threads=1',
  ]
  load({
    library: 'chdb',
    funcName: 'chdb_query_cmdline',
    retType: DataType.External,
    paramsType: [DataType.I32, DataType.StringArray],
    paramsValue: [argv.length, argv],
  })
  process.exit(1)
}

/** An engine whose folder cannot be written any more, or is gone, ends: nobody would find it, and nobody else would ever end it. */
async function watchToTheEnd(watched: z.infer<typeof watchSchema>): Promise<void> {
  try {
    await watch(watched)
  } catch (error) {
    // Not by the console, whose words the main thread would have to pass on.
    fs.writeSync(2, `${errorText(error)}\n`)
    process.kill(process.pid, 'SIGTERM')
  }
  await sleep(5_000)
  // ClickHouse did not heed SIGTERM; what it acknowledged is on disk.
  process.kill(process.pid, 'SIGKILL')
}

/** Looks every half second whether somebody holds a lease, until the engine was told to end. Its own timer: the main thread is never free. */
async function watch({ folder, lingerMs, address }: z.infer<typeof watchSchema>): Promise<void> {
  let ready = false
  let lastUsed = performance.now()
  for (;;) {
    if (!ready && (await answers(address))) {
      writeAddress(folder, address)
      ready = true
    }
    await sleep(ready ? 500 : 20)
    if (leaseHolders(folder).length > 0) lastUsed = performance.now()
    else if (performance.now() - lastUsed >= lingerMs && retire(folder, address)) return
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
