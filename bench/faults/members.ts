// The processes of a fault run: each can be killed and comes back at the same address.
import fs from 'node:fs'
import path from 'node:path'
import { type BoundProcess, startBound } from '../../test/support/bound-process.ts'
import { type BrokerOptions, startBroker } from '../../test/support/kafka-broker.ts'

export interface Member {
  readonly kind: 'receiver' | 'ingester' | 'broker' | 'engine'
  /** kill -9; resolves once it is gone. */
  kill(): Promise<void>
  /** Resolves once it works again. */
  restart(): Promise<void>
  /** Ends it, at the end of the run. */
  end(): Promise<void>
  /** Most memory (bytes resident) that it ever had, over all its lives. */
  peakMemory(): number
}

export interface CollectorMember extends Member {
  readonly url: string
}

const commandLine = path.resolve('dist/cli/main.js')

/** `homeground collector` with these settings, its log in `logFile`. */
export async function collectorMember(
  kind: 'receiver' | 'ingester',
  port: number,
  settings: Record<string, string>,
  logFile: string,
): Promise<CollectorMember> {
  const url = `http://127.0.0.1:${port}`
  const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(HOMEGROUND|OTEL)_/.test(name)))
  const env = { ...own, ...settings, HOMEGROUND_PORT: String(port), HOMEGROUND_LOG_LEVEL: 'warn' }
  let peak = 0
  const start = async () => {
    for (;;) {
      const output = fs.openSync(logFile, 'a')
      const child = await startBound(process.execPath, [commandLine, '--json', 'collector'], { env, output })
      fs.closeSync(output)
      // One that cannot start (its broker or its store is down just now) is started again, as a supervisor would.
      while (!child.hasEnded) {
        if (await answers(url)) return child
        await sleep(50)
      }
      await sleep(500)
    }
  }
  let current: BoundProcess = await start()
  const note = () => {
    peak = Math.max(peak, peakOf(current.pid))
  }
  const sampler = setInterval(note, 250)
  return {
    kind,
    url,
    kill: async () => {
      note()
      await current.kill('SIGKILL')
    },
    restart: async () => {
      current = await start()
    },
    end: async () => {
      note()
      clearInterval(sampler)
      await current.kill('SIGTERM')
    },
    peakMemory: () => peak,
  }
}

export async function brokerMember(options: BrokerOptions): Promise<Member & { readonly address: string }> {
  let broker = await startBroker(options)
  return {
    kind: 'broker',
    address: broker.address,
    kill: () => broker.kill(),
    restart: async () => {
      broker = await startBroker(options)
    },
    end: () => broker.kill(),
    peakMemory: () => 0,
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/healthz`)).ok
  } catch {
    return false
  }
}

/** VmHWM, where there is /proc. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
