// Runs the real command line (dist/cli/main.js) as a user would, in a folder of its own.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { projectRoot } from './project-files.ts'

export const commandLine = path.join(projectRoot, 'dist', 'cli', 'main.js')

export interface CommandResult {
  code: number | null
  stdout: string
  stderr: string
}

/** `env` is added to the test's own; `undefined` unsets. After `timeoutMs` it is killed and `code` is null. @default timeoutMs 60,000 */
export function runCommand(
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string | undefined>; timeoutMs?: number; input?: string },
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [commandLine, ...args], {
      cwd: options.cwd,
      env: { ...process.env, NO_COLOR: '1', ...options.env },
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    let stdout = ''
    let stderr = ''
    const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? 60_000)
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.stdin?.end(options.input)
    child.on('error', reject)
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code, stdout, stderr })
    })
  })
}

/** Every file under a folder with its size, for "nothing was written": compare before and after. */
export function filesUnder(folder: string): Record<string, number> {
  const found: Record<string, number> = {}
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = path.join(entry.parentPath, entry.name)
    found[path.relative(folder, file)] = fs.statSync(file).size
  }
  return found
}
