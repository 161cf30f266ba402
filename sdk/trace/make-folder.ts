// A folder and what is missing above it. Not Node's recursive mkdir, which never returns where the kernel says ENOENT for a parent that is there, as under /proc.
import fs from 'node:fs'
import path from 'node:path'
import { hasErrorCode } from './thrown.ts'

/** Does nothing where it is there. @throws what fs.mkdirSync throws */
export function makeFolder(folder: string, options: { mode?: number } = {}): void {
  const missing: string[] = []
  let at = path.resolve(folder)
  while (!fs.existsSync(at) && at !== path.dirname(at)) {
    missing.push(at)
    at = path.dirname(at)
  }
  for (const one of missing.reverse()) {
    try {
      fs.mkdirSync(one, options)
    } catch (error) {
      // Somebody else was quicker.
      if (!hasErrorCode(error, 'EEXIST')) throw error
    }
  }
  if (!fs.statSync(folder).isDirectory()) throw Object.assign(new Error(`${folder} is no folder`), { code: 'ENOTDIR' })
}
