// Starts a Python process of the trainer, hands its events on as they come, and turns how it ended into our errors. It ends with us, kill -9 included.
import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import readline from 'node:readline'
import { type ErrorCode, errorCodes, HomegroundError } from '@homeground/sdk/trace'
import { parseEvent, type TrainerEvent } from './events.ts'
import { pythonVariables } from './python-environment.ts'

export interface TrainerProcess {
  /** Resolves when the process ended with 0. @throws HomegroundError as the trainer said, or training-failed */
  ended: Promise<void>
  /** Asks it to save and stop; resolves when it is gone. */
  stop(): Promise<void>
}

export interface TrainerProcessOptions {
  python: string
  /** What follows `python -m homeground_tune`. */
  given: readonly string[]
  /** Everything that libraries print goes here (appended). */
  log: string
  /** @default 1 More start through `accelerate launch`. */
  processes?: number
  /** Over our own environment variables. */
  variables?: Readonly<Record<string, string>>
  onEvent(event: TrainerEvent): void
}

export function startTrainerProcess(options: TrainerProcessOptions): TrainerProcess {
  const processes = options.processes ?? 1
  const launch = processes > 1 ? ['-m', 'accelerate.commands.launch', '--num_processes', String(processes), '--module'] : ['-m']
  const log = fs.openSync(options.log, 'a')
  const logStart = fs.fstatSync(log).size
  const child = spawn(options.python, [...launch, 'homeground_tune', ...options.given], {
    env: pythonVariables({ ...process.env, ...options.variables, HOMEGROUND_FOLLOWED: '1' }),
    // Its stdin is held open by us and read by it to the end: that is how it learns that we are gone.
    stdio: ['pipe', 'pipe', log],
  })
  fs.closeSync(log)
  let last: TrainerEvent | undefined
  if (child.stdout !== null) {
    readline.createInterface({ input: child.stdout }).on('line', (line) => {
      const event = parseEvent(line)
      if (event === undefined) return
      last = event
      options.onEvent(event)
    })
  }
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', (error) =>
      reject(
        new HomegroundError('training-failed', `${options.python} did not start: ${error.message}`, { hint: 'homeground tune setup' }),
      ),
    )
    // `close`, not `exit`: its last event is read by then.
    child.once('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(failure(last, signal ?? `code ${code}`, options.log, logStart))
    })
  })
  ended.catch(() => {})
  return { ended, stop: () => stop(child) }
}

function failure(last: TrainerEvent | undefined, how: string, log: string, logStart: number): HomegroundError {
  if (last?.event === 'refused') {
    const faults = last.faults.map(({ field, expected, found, action }) => `${field}: expected ${expected}, found ${found} (${action})`)
    return new HomegroundError(codeOf(last.code), faults.join('\n  '), { hint: 'mend what is named above and run the command again' })
  }
  if (last?.event === 'failed') return new HomegroundError('training-failed', last.message, { hint: last.action })
  return new HomegroundError('training-failed', `the trainer ended with ${how}: ${tail(log, logStart)}`, {
    hint: `look at ${log}; the same command goes on from the last checkpoint. Ended with SIGKILL, the machine was out of memory.`,
  })
}

function codeOf(code: string): ErrorCode {
  const known = Object.keys(errorCodes).find((each): each is ErrorCode => each === code)
  return known ?? 'invalid-settings'
}

/** The last line that says something. */
function tail(log: string, from: number): string {
  const text = fs.readFileSync(log).subarray(from).toString('utf8')
  return text.trimEnd().split('\n').at(-1)?.slice(0, 300) ?? ''
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()))
  child.kill('SIGTERM')
  const hard = setTimeout(() => child.kill('SIGKILL'), 60_000)
  await gone
  clearTimeout(hard)
}
