import { hasErrorCode } from './thrown.ts'

/** Whether a process of this machine has this id. It need not be the one that had it once. */
export function isProcessAlive(pid: number): boolean {
  // To a signal 0 and less are groups of processes.
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Another user's process is alive too.
    return hasErrorCode(error, 'EPERM')
  }
}
