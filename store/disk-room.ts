// Whether a failure was a full disk: senders of errors say so in many words, or in none (an engine that cannot write its log ends without a word).
import fs from 'node:fs'
import { HomegroundError } from '@homeground/sdk/trace'

/** Less than this is none: ClickHouse needs more for the smallest of its files. */
const leastBytes = 1024 * 1024

export interface FullDisk {
  /** A file or folder on the disk in question; it need not be there yet. */
  place: string
  /** What could not be done, as the message's beginning: `/x/store.tar cannot be written`. */
  what: string
  hint: string
  cause?: unknown
}

/** The error where the cause is a full disk, or the place's disk is full now; else undefined. */
export function fullDisk({ place, what, hint, cause }: FullDisk): HomegroundError | undefined {
  // What the system gave another reason for has that one, however full the disk is.
  if (!isFull(cause) && (codeOf(cause) !== undefined || hasRoom(place))) return undefined
  return new HomegroundError('disk-full', `${what}: no room is left on the disk of ${place}`, {
    hint,
    retryable: true,
    ...(cause === undefined ? {} : { cause }),
  })
}

/** ClickHouse's words for it, and the system's. */
export function saysFull(text: string): boolean {
  return /NOT_ENOUGH_SPACE|not enough space|No space left on device|Disk quota exceeded|ENOSPC|EDQUOT/i.test(text)
}

function isFull(cause: unknown): boolean {
  if (HomegroundError.is(cause)) return cause.code === 'disk-full'
  return codeOf(cause) === 'ENOSPC' || codeOf(cause) === 'EDQUOT'
}

/** The system's, as EACCES. */
function codeOf(cause: unknown): string | undefined {
  return cause instanceof Error && 'syscall' in cause && 'code' in cause ? String(cause.code) : undefined
}

function hasRoom(place: string): boolean {
  for (let at = place; ; at = at.slice(0, at.lastIndexOf('/'))) {
    try {
      const { bavail, bsize, blocks } = fs.statfsSync(at === '' ? '/' : at)
      // /proc and its like are no disks.
      return blocks === 0 || bavail * bsize >= leastBytes
    } catch {
      // Not there yet: the folder above it is. Elsewhere than on POSIX nothing is known.
      if (!at.includes('/')) return true
    }
  }
}
