// What a process that was killed left beside a file or folder that it was writing: named after it, with the process's id.
import fs from 'node:fs'
import path from 'node:path'
import { isProcessAlive } from './is-process-alive.ts'

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
    if (pid === null || isProcessAlive(Number(pid[1] ?? pid[2]))) continue
    try {
      fs.rmSync(path.join(folder, name), { recursive: true, force: true })
    } catch {}
  }
}
