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
      if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause
      const holder = readIfThere(file)
      if (attempt > 0 || isHeld(file, holder)) {
        throw new HomegroundError('invalid-argument', `${says.place}: ${holder === '' ? 'a process' : `process ${holder}`} ${says.busy}`, {
          hint: says.hint,
          cause,
        })
      }
      removeLeft(file, holder)
    }
  }
}

/** Does short work under the lock, and waits for others who do: up to `waitMs`. @throws HomegroundError invalid-argument where it stays held */
export function withLock<Result>(
  file: string,
  says: { place: string; busy: string; hint: string },
  work: () => Result,
  waitMs = 5_000,
): Result {
  for (const until = performance.now() + waitMs; ; ) {
    try {
      takeLock(file, says)
      break
    } catch (error) {
      if (!HomegroundError.is(error) || performance.now() >= until) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
  try {
    return work()
  } finally {
    releaseLock(file)
  }
}

/** Nothing where there is none. */
export function releaseLock(file: string): void {
  fs.rmSync(file, { force: true })
}

/** A lock that says nobody's name was made a moment ago, and the name is on its way, or its maker was killed just then. */
const unnamedMs = 2_000

function isHeld(file: string, holder: string): boolean {
  if (holder !== '') return Number(holder) !== process.pid && isAlive(Number(holder))
  const made = fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs
  return made !== undefined && Date.now() - made < unnamedMs
}

/** Of two who find the lock of a dead process one removes it, and neither the lock that the other has taken since. */
function removeLeft(file: string, holder: string): void {
  const aside = `${file}.${process.pid}.left`
  try {
    fs.renameSync(file, aside)
    if (readIfThere(aside) === holder) fs.rmSync(aside, { force: true })
    else fs.renameSync(aside, file)
  } catch {
    // The other was first.
  }
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
