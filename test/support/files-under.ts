// What lies in a folder, for "nothing was written": compare before and after.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

/** Every file with a hash of its content, and every folder, by path. */
export function filesUnder(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name)
    const name = path.relative(folder, file)
    if (entry.isDirectory()) found[`${name}/`] = ''
    else if (entry.isFile()) found[name] = createHash('sha256').update(fs.readFileSync(file)).digest('hex')
  }
  return found
}
