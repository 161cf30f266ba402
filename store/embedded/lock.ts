// One engine a folder: a kernel lock (flock) on a file that is never deleted. The kernel gives it up when the process is gone, however it went.
// ClickHouse holds one of its own, `status`, but takes it only after we have cleared what an earlier engine left.
import fs from 'node:fs'
import path from 'node:path'

/** Exit code of an engine process that found another one in its folder. */
export const lockedExit = 75

/** What is used of ffi-rs, which is an optional package. */
export type Bridge = Pick<typeof import('ffi-rs'), 'open' | 'load' | 'DataType'>

/** True when this process holds the folder from now on, until its end. */
export function lockFolder(folder: string, { open, load, DataType }: Bridge): boolean {
  const exclusive = 2
  const withoutWaiting = 4
  open({ library: 'libc', path: process.platform === 'darwin' ? 'libSystem.dylib' : 'libc.so.6' })
  const file = fs.openSync(path.join(folder, 'lock'), 'a', 0o600)
  const result = load({
    library: 'libc',
    funcName: 'flock',
    retType: DataType.I32,
    paramsType: [DataType.I32, DataType.I32],
    paramsValue: [file, exclusive | withoutWaiting],
  })
  return result === 0
}
