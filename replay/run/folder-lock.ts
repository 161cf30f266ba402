// A folder that one process at a time fills: the lock names the process, and one whose process is gone is taken over.
import fs from 'node:fs'
import { HomegroundError } from '@homeground/sdk/trace'

/** `busy`: what the holder is doing, as in `process 12 BUSY`. @throws HomegroundError invalid-argument while another process holds it */
export function takeLock(file: string, says: { place: string; busy: string; hint: string }): void {
  for (let attempt = 0; ; attempt += 1) {
    try {
      fs.writeFileSync(file, String(process.pid), { flag: 'wx' })
      return
    } catch (cause) {
      const holder = Number(readIfThere(file))
      if (attempt > 0 || (holder !== process.pid && isAlive(holder))) {
        throw new HomegroundError('invalid-argument', `${says.place}: process ${holder} ${says.busy}`, { hint: says.hint, cause })
      }
      fs.rmSync(file, { force: true })
    }
  }
}

/** Nothing where there is none. */
export function releaseLock(file: string): void {
  fs.rmSync(file, { force: true })
}

function readIfThere(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
