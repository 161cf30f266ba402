// Whether a backup's archive is whole. The engine answers that a backup is made though the disk was full while it wrote: its file then ends anywhere.
import fs from 'node:fs'

const block = 512
/** What ClickHouse writes last: the list of all that is in it. */
const contents = '.backup'

/** True where every entry of the tar file is there up to its end, the list of contents among them. Reads the entries' heads only. */
export function isWholeArchive(file: string): boolean {
  const opened = fs.openSync(file, 'r')
  try {
    const { size } = fs.fstatSync(opened)
    const head = Buffer.alloc(block)
    let hasContents = false
    for (let at = 0; at + block <= size; ) {
      fs.readSync(opened, head, 0, block, at)
      // The end is marked by blocks of zeros.
      if (head.every((byte) => byte === 0)) return hasContents
      if (!isHead(head)) return false
      hasContents ||= nameOf(head) === contents
      at += block + Math.ceil(sizeOf(head) / block) * block
    }
    return false
  } finally {
    fs.closeSync(opened)
  }
}

/** POSIX ustar: the sum of the head's bytes, its own field read as spaces. */
function isHead(head: Buffer): boolean {
  let sum = 8 * 32
  for (const [at, byte] of head.entries()) if (at < 148 || at >= 156) sum += byte
  return Number.parseInt(textOf(head, 148, 156), 8) === sum
}

/** In octal digits, or, beyond 8 GiB, in bytes after a set first bit. */
function sizeOf(head: Buffer): number {
  if (((head[124] ?? 0) & 0x80) === 0) return Number.parseInt(textOf(head, 124, 136), 8)
  return Number(head.readBigUInt64BE(128))
}

function nameOf(head: Buffer): string {
  return textOf(head, 0, 100)
}

function textOf(head: Buffer, from: number, to: number): string {
  const end = head.subarray(from, to).indexOf(0)
  return head.toString('latin1', from, end < 0 ? to : from + end).trim()
}
