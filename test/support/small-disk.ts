// A disk that can really be filled: a tmpfs of its own.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** Undefined where this user may not mount. The caller unmounts it. */
export function smallDisk(mebibytes: number): string | undefined {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder], { stdio: 'pipe' })
    return folder
  } catch (error) {
    fs.rmSync(folder, { recursive: true, force: true })
    process.stderr.write(`skipped: a full disk: ${error instanceof Error ? error.message.trim() : String(error)}\n`)
    return undefined
  }
}

export function unmount(folder: string): void {
  execFileSync('umount', ['-l', folder], { stdio: 'pipe' })
  fs.rmSync(folder, { recursive: true, force: true })
}

/** Takes what is left of the disk, but for so many MiB; the file that holds it. */
export function fill(disk: string, leaving = 0): string {
  const file = path.join(disk, 'filler')
  const { bavail, bsize } = fs.statfsSync(disk)
  const out = fs.openSync(file, 'w')
  const block = randomBytes(64 * 1024)
  try {
    for (let left = bavail * bsize - leaving * 1024 * 1024; left > 0; left -= block.length)
      fs.writeSync(out, block, 0, Math.min(left, block.length))
  } finally {
    fs.closeSync(out)
  }
  return file
}
