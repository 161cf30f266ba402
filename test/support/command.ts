// Runs `homeground …` as users do: the compiled command line in a process of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { until } from './until.ts'

/** The compiled command line. */
export const commandLine = path.resolve('dist/cli/main.js')

export interface Finished {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs it to its end, without settings of the caller's environment. */
export async function homegroundCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  options: { cwd?: string } = {},
): Promise<Finished> {
  const { child, output } = start(args, environment, options.cwd)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, ...output }
}

export interface Server {
  readonly url: string
  readonly pid: number
  /** What it has printed until now. */
  readonly output: Pick<Finished, 'stdout' | 'stderr'>
  /** SIGTERM, and its end. */
  stop(): Promise<Finished>
  /** SIGKILL, and its end. */
  kill(): Promise<void>
}

/** `homeground up` or `homeground collector` on a free port, once it listens. */
export async function homegroundServer(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Server> {
  const { child, output } = start(['--json', ...args], { HOMEGROUND_PORT: '0', ...environment })
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  await until(
    () => output.stdout.includes('\n') || child.exitCode !== null,
    () => `homeground ${args.join(' ')} printed ${JSON.stringify(output)}`,
    60_000,
  )
  if (child.exitCode !== null) throw new Error(`homeground ${args.join(' ')} ended with ${child.exitCode}: ${output.stderr}`)
  const { url, pid } = JSON.parse(output.stdout.split('\n', 1)[0] ?? '') as { url: string; pid: number }
  return {
    url,
    pid,
    output,
    stop: async () => {
      child.kill('SIGTERM')
      return { code: await closed, ...output }
    },
    kill: async () => {
      child.kill('SIGKILL')
      await closed
    },
  }
}

function start(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  cwd?: string,
): { child: ChildProcess; output: { stdout: string; stderr: string } } {
  const own = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('HOMEGROUND_') && !name.startsWith('OTEL_')),
  )
  const child = spawn(process.execPath, [commandLine, ...args], {
    env: { ...own, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  })
  const output = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk) => {
    output.stdout += String(chunk)
  })
  child.stderr?.on('data', (chunk) => {
    output.stderr += String(chunk)
  })
  return { child, output }
}
