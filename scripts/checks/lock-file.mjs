// The lock file must serve every platform and every registry: npm drops the engine's packages of other platforms when it rewrites the file, and may write a mirror's address into it.
import fs from 'node:fs'

const lock = JSON.parse(fs.readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'))
const packages = Object.entries(lock.packages)
const faults = []
const engines = packages.filter(([name]) => /(^|\/)@chdb\/lib-[a-z0-9-]+$/.test(name)).map(([name]) => name)
if (engines.length < 4)
  faults.push(`expected the engine for 4 platforms (@chdb/lib-*), found ${engines.length}; restore the others from git`)
for (const [name, entry] of packages) {
  if (typeof entry.resolved === 'string' && /^https?:/.test(entry.resolved))
    faults.push(`${name}: names a registry's address; run npm install with omit-lockfile-registry-resolved`)
}
for (const fault of faults.slice(0, 10)) process.stderr.write(`lock file: ${fault}\n`)
process.exitCode = faults.length === 0 ? 0 : 1
