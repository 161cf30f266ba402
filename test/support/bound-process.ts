// A child process that dies with the one that started it, however that one went: a shell in between reads from us until we are gone, and then kills it.
import { type ChildProcess, spawn } from 'node:child_process'

export interface BoundProcess {
  readonly pid: number
  /** Resolves with its exit code once it has ended; 128 + the signal's number where a signal ended it. */
  readonly ended: Promise<number | null>
  readonly hasEnded: boolean
  /** Sends the signal and waits for the end. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** What it has printed on stdout so far, where `output` is `pipe`. */
  stdout(): string
}

const script =
  '"$@" </dev/null 3>&- 4<&- & pid=$!; echo $pid >&3; exec 3>&-; (cat <&4 >/dev/null; kill -9 $pid) >/dev/null 2>&1 & watch=$!; wait $pid; code=$?; kill $watch; exit $code'

/** `output`: `pipe` to read stdout, a file descriptor that takes stdout and stderr, or `ignore`. */
export async function startBound(
  command: string,
  args: readonly string[],
  options: { env?: Record<string, string | undefined>; output?: 'pipe' | 'ignore' | number } = {},
): Promise<BoundProcess> {
  const { output = 'ignore' } = options
  const shell: ChildProcess = spawn('sh', ['-c', `exec 4<&0; ${script}`, 'sh', command, ...args], {
    env: options.env ?? process.env,
    stdio: ['pipe', output, typeof output === 'number' ? output : 'ignore', 'pipe'],
  })
  let printed = ''
  shell.stdout?.on('data', (text) => {
    printed += String(text)
  })
  let hasEnded = false
  const ended = new Promise<number | null>((resolve) => {
    shell.once('exit', (code) => {
      hasEnded = true
      shell.stdin?.destroy()
      resolve(code)
    })
  })
  const pid = await new Promise<number>((resolve, reject) => {
    shell.once('error', reject)
    shell.stdio[3]?.once('data', (text) => resolve(Number(String(text))))
  })
  return {
    pid,
    ended,
    get hasEnded() {
      return hasEnded
    },
    kill: async (signal) => {
      if (!hasEnded) signalTo(pid, signal)
      const hurry = setTimeout(() => signalTo(pid, 'SIGKILL'), 30_000)
      await ended
      clearTimeout(hurry)
    },
    stdout: () => printed,
  }
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // gone by itself
  }
}
