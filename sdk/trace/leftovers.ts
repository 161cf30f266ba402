// What a process that was killed left beside a file or folder that it was writing: named after it, with the process's id.
import fs from 'node:fs'
import path from 'node:path'
import { isError } from './is-error.ts'

/** `TARGET.PID.tmp` of a file, `TARGET.building-PID` of a folder; those of live processes stay. Never throws. */
export function removeLeftovers(target: string): void {
  const folder = path.dirname(target)
  const base = path.basename(target)
  let names: string[] = []
  try {
    names = fs.readdirSync(folder)
  } catch {}
  for (const name of names) {
    if (!name.startsWith(`${base}.`)) continue
    const pid = /^(?:building-(\d+)|(\d+)\.tmp)$/.exec(name.slice(base.length + 1))
    if (pid === null || isAlive(Number(pid[1] ?? pid[2]))) continue
    try {
      fs.rmSync(path.join(folder, name), { recursive: true, force: true })
    } catch {}
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Another user's process is alive too.
    return isError(error) && 'code' in error && error.code === 'EPERM'
  }
}
