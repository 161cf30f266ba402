// Makes a fresh clone ready to run, with Node and npm alone: installs the locked dependencies when they are missing or out of date, then compiles what is stale.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `setup: Node ${process.versions.node} is too old; homeground needs Node 20.19 or newer. Install it and run the command again.\n`,
  )
  process.exit(2)
}

const lock = createHash('sha256')
  .update(fs.readFileSync(path.join(root, 'package-lock.json')))
  .digest('hex')
const stamp = path.join(root, 'node_modules', '.homeground-lock')
if (!fs.existsSync(stamp) || fs.readFileSync(stamp, 'utf8') !== lock) {
  process.stdout.write('setup: installing dependencies with npm ci (about 900 MB, most of it the ClickHouse engine; once)\n')
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (npm.status !== 0) {
    process.stderr.write('setup: npm ci failed (see above); check the connection to your npm registry and run the command again\n')
    process.exit(npm.status ?? 1)
  }
  fs.writeFileSync(stamp, lock)
}
execFileSync(process.execPath, [path.join(root, 'scripts', 'build.mjs'), '--if-stale'], { stdio: 'inherit' })
