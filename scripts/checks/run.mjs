// Every check beside the tests, one after the other, each by itself: `node scripts/checks/run.mjs [NAME…]`. Writes one line a check and, last, the count; with `--tests FILE` the tests' own closing line is added to it.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))))
const bin = (name) => path.join('node_modules', '.bin', name)

/** name, command, minutes it may take. */
const checks = [
  ['lint', ['npm', 'run', '--silent', 'lint'], 3],
  ['types', ['npm', 'run', '--silent', 'types'], 3],
  ['build', ['npm', 'run', '--silent', 'build'], 3],
  ['unused', [bin('knip'), '--no-progress', '--treat-config-hints-as-errors'], 3],
  ['lock file', ['node', 'scripts/checks/lock-file.mjs'], 1],
  ['publint homeground', [bin('publint'), 'run', '--strict', '.'], 2],
  ['publint sdk', [bin('publint'), 'run', '--strict', 'sdk'], 2],
  ['attw homeground', [bin('attw'), '--pack', '.', '--profile', 'esm-only'], 3],
  ['attw sdk', [bin('attw'), '--pack', 'sdk', '--profile', 'esm-only'], 3],
  ['tarball sdk', ['node', 'scripts/checks/tarball-sdk.mjs'], 5],
  ['tarball homeground', ['node', 'scripts/checks/tarball-homeground.mjs'], 5],
  ['demo', ['node', 'scripts/checks/demo.mjs'], 8],
]

const options = process.argv.slice(2)
const tests =
  options[0] === '--tests' ? closingLine(fs.readFileSync(options.splice(0, 2)[1], 'utf8')) : { passed: 0, failed: 0, skipped: 0 }
const wanted = options.length === 0 ? checks : checks.filter(([name]) => options.includes(name))

const failed = []
for (const [name, command, minutes] of wanted) {
  const start = Date.now()
  process.stdout.write(`\n== check: ${name} (${command.join(' ')})\n`)
  const fault = await run(command, minutes)
  process.stdout.write(`== ${fault === undefined ? 'ok' : `FAILED (${fault})`}: ${name}, ${((Date.now() - start) / 1000).toFixed(1)} s\n`)
  if (fault !== undefined) failed.push(name)
}
if (failed.length > 0) process.stdout.write(`\nfailed checks: ${failed.join(', ')}\n`)
process.stdout.write(
  `\n${tests.passed + wanted.length - failed.length} passed, ${tests.failed + failed.length} failed, ${tests.skipped} skipped\n`,
)
process.exitCode = tests.failed + failed.length === 0 ? 0 : 1

/** Resolves with what went wrong, or undefined. The command's whole process group ends with it. */
function run([command, ...args], minutes) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], detached: true })
    const timer = setTimeout(() => {
      process.stdout.write(`check: still running after ${minutes} minutes; ending it\n`)
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {}
    }, minutes * 60_000)
    child.on('error', (error) => {
      clearTimeout(timer)
      resolve(error.message)
    })
    child.on('exit', (code, signal) => {
      clearTimeout(timer)
      resolve(code === 0 ? undefined : signal === null ? `exit ${code}` : signal)
    })
  })
}

/** The last `N passed, N failed, N skipped` of a test run; none at all counts as one failure. */
function closingLine(output) {
  const match = [...output.matchAll(/^(\d+) passed, (\d+) failed, (\d+) skipped$/gm)].at(-1)
  if (match === undefined) return { passed: 0, failed: 1, skipped: 0 }
  return { passed: Number(match[1]), failed: Number(match[2]), skipped: Number(match[3]) }
}
