// A folder that one process at a time fills: the lock names the process, and one whose process is gone is taken over.
import fs from 'node:fs'
import { HomegroundError, hasErrorCode, isProcessAlive } from '@homeground/sdk/trace'

/** `busy`: what the holder is doing, as in `process 12 BUSY`. @throws HomegroundError invalid-argument while another process holds it */
export function takeLock(file: string, says: { place: string; busy: string; hint: string }): void {
  while (!claim(file)) {
    const holder = readIfThere(file)
    // Released between the two: it may be free now.
    if (holder === undefined) continue
    if (isHeld(file, holder) || !removeLeft(file, holder)) {
      throw new HomegroundError('invalid-argument', `${says.place}: ${holder === '' ? 'a process' : `process ${holder}`} ${says.busy}`, {
        hint: says.hint,
      })
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
  return holder === '' ? !isOld(file) : Number(holder) !== process.pid && isProcessAlive(Number(holder))
}

function isOld(file: string): boolean {
  const made = fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs
  return made !== undefined && Date.now() - made >= unnamedMs
}

/**
 * Removes the lock of a dead process, unless it has changed; one process at a time: of two the slower would remove the lock that the other has taken since.
 * False while another one does.
 */
function removeLeft(file: string, holder: string): boolean {
  const takeover = `${file}.takeover`
  if (!claim(takeover)) {
    // Its maker was killed in these few lines.
    if (isOld(takeover)) releaseLock(takeover)
    return false
  }
  try {
    if (readIfThere(file) === holder && !isHeld(file, holder)) releaseLock(file)
    return true
  } finally {
    releaseLock(takeover)
  }
}

/** True where the file was not there and is ours now. */
function claim(file: string): boolean {
  try {
    fs.writeFileSync(file, String(process.pid), { flag: 'wx' })
    return true
  } catch (cause) {
    if (hasErrorCode(cause, 'EEXIST')) return false
    throw cause
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (cause) {
    if (hasErrorCode(cause, 'ENOENT')) return undefined
    throw cause
  }
}
