// Compiles sdk/ (its JavaScript bundled), the root package and the examples into their dist/ folders. `--if-stale` does nothing when every dist/ is newer than its sources.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleSdk } from './bundle-sdk.mjs'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const stamp = path.join(root, 'dist', '.built')

if (process.argv.includes('--if-stale') && fs.existsSync(stamp) && newestSource(root) <= fs.statSync(stamp).mtimeMs) process.exit(0)

for (const project of ['sdk', '.', ...examples()]) {
  const folder = path.join(root, project)
  const output = path.join(folder, 'dist')
  const fresh = `${output}.next`
  fs.rmSync(fresh, { recursive: true, force: true })
  try {
    const kind = project === 'sdk' ? ['--emitDeclarationOnly', '--sourceMap', 'false'] : []
    execFileSync(process.execPath, [tsc, '-p', path.join(folder, 'tsconfig.build.json'), '--outDir', fresh, ...kind], { stdio: 'inherit' })
    if (project === 'sdk') await bundleSdk(folder, fresh)
  } catch (error) {
    // What the compiler has to say it has said.
    if (error.status === undefined) process.stderr.write(`${error.stack}\n`)
    process.stderr.write(`build: ${project === '.' ? 'homeground' : project} did not compile; mend the errors above and run it again\n`)
    fs.rmSync(fresh, { recursive: true, force: true })
    process.exit(1)
  }
  copyAssets(folder, fresh)
  fs.rmSync(output, { recursive: true, force: true })
  fs.renameSync(fresh, output)
}
for (const command of ['cli/main.js'])
  if (fs.existsSync(path.join(root, 'dist', command))) fs.chmodSync(path.join(root, 'dist', command), 0o755)
fs.writeFileSync(stamp, '')

function examples() {
  const folder = path.join(root, 'examples')
  return fs
    .readdirSync(folder)
    .map((name) => path.join('examples', name))
    .filter((name) => fs.existsSync(path.join(root, name, 'tsconfig.build.json')))
}

/** What the compiled code reads at run time beside itself: SQL migrations, report assets, XML settings. */
function copyAssets(folder, output) {
  if (folder !== root) return
  for (const part of ['store', 'collector', 'replay', 'tune', 'cli']) {
    if (!fs.existsSync(path.join(root, part))) continue
    for (const entry of fs.readdirSync(path.join(root, part), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.(sql|css|html|xml|svg)$/.test(entry.name)) continue
      const from = path.join(entry.parentPath, entry.name)
      if (/(^|[\\/])(node_modules|dist|trainer)[\\/]/.test(path.relative(root, from))) continue
      const to = path.join(output, path.relative(root, from))
      fs.mkdirSync(path.dirname(to), { recursive: true })
      fs.copyFileSync(from, to)
    }
  }
}

function newestSource(folder) {
  let newest = 0
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    if (/^(node_modules|dist|dist\.next|test|bench|docs|\..*)$/.test(entry.name)) continue
    const at = path.join(folder, entry.name)
    if (entry.isDirectory()) newest = Math.max(newest, fs.statSync(at).mtimeMs, newestSource(at))
    else if (/\.(ts|sql|css|html|xml|svg|json)$/.test(entry.name)) newest = Math.max(newest, fs.statSync(at).mtimeMs)
  }
  return newest
}
