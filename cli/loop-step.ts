// A step of `homeground loop`: another command of ours in a process of its own. It ends with the loop, kill -9 included: a loop that goes on begins the step
// itself, and two at once would write over each other.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Tells a command that it is a step of a loop. */
const stepVariable = 'HOMEGROUND_LOOP_STEP'

export interface LoopStepOptions {
  /** Homeground's folder, where it was given. */
  folder: string | undefined
  signal: AbortSignal
}

/** Its errors and progress go to our stderr as they come. @throws where it cannot be started */
export function runLoopStep(given: readonly string[], { folder, signal }: LoopStepOptions): Promise<{ code: number; stdout: string }> {
  const main = fileURLToPath(new URL('./main.js', import.meta.url))
  const environment = { ...process.env, ...(folder === undefined ? {} : { HOMEGROUND_FOLDER: folder }), [stepVariable]: '1' }
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...given], { env: environment, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
    const stop = (): void => void child.kill('SIGTERM')
    signal.addEventListener('abort', stop, { once: true })
    let stdout = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.once('error', reject)
    child.once('close', (code) => {
      signal.removeEventListener('abort', stop)
      resolve({ code: code ?? 3, stdout })
    })
  })
}

/** To be called when a command begins: where it is a step, it ends as soon as the loop is gone. A process manager's channel may close: that ends nothing. */
export function endWithLoop(): void {
  if (process.env[stepVariable] === undefined || process.channel === undefined) return
  delete process.env[stepVariable]
  process.once('disconnect', () => process.exit(3))
  // Its end is all that is listened for.
  process.channel.unref()
}
