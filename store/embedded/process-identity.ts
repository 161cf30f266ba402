// Which process a pid means: pids are used again, so a process is named by its pid and the time it started.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'

/** The start of a live process as an opaque word without spaces; undefined where there is no such process (a zombie is none). */
export function processStart(pid: number): string | undefined {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid)
}

/** True while the very process that had this pid and start still runs. */
export function isAlive(identity: { pid: number; start: string }): boolean {
  return processStart(identity.pid) === identity.start
}

function fromProc(pid: number): string | undefined {
  try {
    // The command's name may hold spaces and brackets: fields count from the last ')'. State is the 3rd field, starttime the 22nd.
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

function fromPs(pid: number): string | undefined {
  try {
    const text = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    const [state, ...start] = text.trim().split(/\s+/)
    return state === undefined || state.startsWith('Z') ? undefined : start.join('').replace(/[^0-9A-Za-z]/g, '')
  } catch {
    return undefined
  }
}
