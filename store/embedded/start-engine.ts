// A ClickHouse for this machine, without an installation: one engine process a folder, started by the first command that needs it,
// found and shared by the others, and gone soon after the last of them, however that one went.
// What it is not: a server for other machines (it listens on loopback), or safe against the loss of power in the second after an insert.
import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { errorText, HomegroundError, makeFolder } from '@homeground/sdk/trace'
import { fullDisk } from '../disk-room.ts'
import { type EngineAddress, readAddress, retire } from './address.ts'
import { answers } from './answers.ts'
import { freePort } from './free-port.ts'
import { type Lease, takeLease } from './leases.ts'
import { locateEngine } from './locate.ts'
import { lockedExit } from './lock.ts'
import { isAlive } from './process-identity.ts'

export interface EngineOptions {
  /** @default .homeground/engine in the working directory */
  folder?: string
  /** How long an engine that nobody uses stays, for the next command. @default 10000 */
  lingerMs?: number
  /** @default 30000 */
  startTimeoutMs?: number
}

export interface Engine {
  readonly folder: string
  /** Where it listens now. Changes when the engine had to be started again. */
  address(): EngineAddress
  /** Starts it again where it has ended; callers ask after a refused connection. @throws as `startEngine` */
  revive(): Promise<EngineAddress>
  /** Gives up this user's share. `stop`: ends the engine now if nobody else uses it, and waits until it is gone. @default { stop: false } */
  close(options?: { stop?: boolean }): Promise<void>
}

/**
 * The engine of the folder: found where it runs, else started.
 * @throws HomegroundError engine-missing, engine-locked (another program holds the folder), engine-failed, folder-unwritable, disk-full
 */
export async function startEngine(options: EngineOptions = {}): Promise<Engine> {
  const folder = path.resolve(options.folder ?? path.join('.homeground', 'engine'))
  const settings = { folder, lingerMs: options.lingerMs ?? 10_000, startTimeoutMs: options.startTimeoutMs ?? 30_000 }
  const library = locateEngine()
  const lease = openFolder(folder)
  try {
    let address = await findOrStart(library, settings)
    let reviving: Promise<EngineAddress> | undefined
    return {
      folder,
      address: () => address,
      revive: () => {
        reviving ??= goneOrAnswering(address, settings.startTimeoutMs)
          .then(() => findOrStart(library, settings))
          .then((found) => (address = found))
        return reviving.finally(() => (reviving = undefined))
      },
      close: async ({ stop = false } = {}) => {
        lease.release()
        const current = readAddress(folder)
        if (stop && current !== undefined && retire(folder, current)) await gone(current)
      },
    }
  } catch (error) {
    lease.release()
    throw error
  }
}

/** A killed engine is a process for a while yet, and its port may accept: finding it in that moment would give a dead address back. */
async function goneOrAnswering(address: EngineAddress, limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs
  while (isAlive(address) && performance.now() < deadline && !(await answers(address))) await sleep(20)
}

async function findOrStart(library: string, settings: Required<EngineOptions>): Promise<EngineAddress> {
  const deadline = performance.now() + settings.startTimeoutMs
  let child: ChildProcess | undefined
  for (;;) {
    const address = readAddress(settings.folder)
    if (address !== undefined) return address
    if (performance.now() > deadline) {
      child?.kill('SIGKILL')
      if (child?.exitCode === lockedExit) throw locked(settings.folder, 'an engine holds the folder and does not answer')
      throw failed(settings.folder, `did not answer within ${settings.startTimeoutMs / 1000} s`)
    }
    if (child === undefined) child = await spawnEngine(library, settings)
    else if (child.exitCode === lockedExit) {
      // Another command is starting one, or an old one is on its way out.
      await sleep(100)
      if (readAddress(settings.folder) === undefined) child = undefined
      if (performance.now() > deadline - 100) throw locked(settings.folder, 'an engine holds the folder and does not answer')
    } else if (child.exitCode !== null || child.signalCode !== null) {
      const log = readLog(settings.folder)
      if (/Cannot lock file/.test(log)) throw locked(settings.folder, statusOf(settings.folder))
      if (!/address already in use/i.test(log))
        throw failed(settings.folder, `ended with ${child.exitCode ?? child.signalCode}: ${log.slice(-500)}`)
      child = undefined // somebody took the free port first
    }
    await sleep(20)
  }
}

/** Detached, with its output in a file: it outlives the command that started it as long as another one uses it. */
async function spawnEngine(library: string, { folder, lingerMs }: Required<EngineOptions>): Promise<ChildProcess> {
  const task = { folder, library, lingerMs, port: await freePort() }
  const log = fs.openSync(path.join(folder, 'engine.log'), 'w', 0o600)
  try {
    const child = spawn(process.execPath, [engineProcess(), JSON.stringify(task)], { detached: true, stdio: ['ignore', log, log] })
    child.on('error', () => {})
    child.unref()
    return child
  } finally {
    fs.closeSync(log)
  }
}

/** Always the compiled file: a child process cannot run our sources on Node 20. The package knows itself by name. */
function engineProcess(): string {
  const root = path.dirname(createRequire(import.meta.url).resolve('homeground/package.json'))
  return path.join(root, 'dist', 'store', 'embedded', 'engine-process.js')
}

function openFolder(folder: string): Lease {
  try {
    makeFolder(folder, { mode: 0o700 })
    return takeLease(folder)
  } catch (error) {
    const full = fullDisk({ place: folder, what: 'the engine folder cannot be written', hint: makeRoom, cause: error })
    if (full !== undefined) throw full
    throw new HomegroundError('folder-unwritable', `the engine folder ${folder} cannot be written: ${errorText(error)}`, {
      hint: 'give a folder that this user may write, with --folder or HOMEGROUND_FOLDER',
      cause: error,
    })
  }
}

async function gone(address: EngineAddress): Promise<void> {
  const hurry = performance.now() + 5_000
  while (isAlive(address)) {
    if (performance.now() > hurry) process.kill(address.pid, 'SIGKILL')
    await sleep(20)
  }
}

function locked(folder: string, who: string): HomegroundError {
  return new HomegroundError('engine-locked', `the engine folder ${folder} is held by another process: ${who}`, {
    hint: 'end that process, or give another folder with --folder or HOMEGROUND_FOLDER; do not delete the lock',
  })
}

const makeRoom = 'free some space there, or give another folder with --folder or HOMEGROUND_FOLDER; then give the same command again'

function failed(folder: string, what: string): HomegroundError {
  // It says nothing then: its log is on that disk.
  const full = fullDisk({ place: folder, what: 'the embedded ClickHouse engine cannot start', hint: makeRoom })
  if (full !== undefined) return full
  return new HomegroundError('engine-failed', `the embedded ClickHouse engine ${what}`, {
    hint: `its output is in ${path.join(folder, 'engine.log')}; \`homeground doctor\` checks the installation`,
    retryable: true,
  })
}

/** ClickHouse writes its pid into `status`. */
function statusOf(folder: string): string {
  try {
    return fs
      .readFileSync(path.join(folder, 'clickhouse', 'status'), 'utf8')
      .trim()
      .split('\n')
      .slice(0, 2)
      .join(', ')
  } catch {
    return 'unknown'
  }
}

function readLog(folder: string): string {
  try {
    return fs.readFileSync(path.join(folder, 'engine.log'), 'utf8')
  } catch {
    return ''
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
