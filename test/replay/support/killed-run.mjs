// Plays the run of killed-at-every-write.test.ts, and kills itself at its write number KILL_AT (from 1): of bytes half are written, of anything else nothing is done.
// Prints how many writes there were where it lives to its end.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const killAt = Number(process.env.KILL_AT)
let writes = 0

function counted(owner, name, half) {
  const real = owner[name]
  owner[name] = function write(...given) {
    writes += 1
    if (writes === killAt) {
      half?.(...given)
      process.kill(process.pid, 'SIGKILL')
    }
    return Reflect.apply(real, this, given)
  }
}
const { writeSync } = fs
// fs.write(fd, buffer, offset, length, position, done), as streams call it.
counted(fs, 'write', (fd, bytes, offset, length) => writeSync(fd, bytes, offset, Math.floor(length / 2)))
counted(fs, 'writev', (fd, [first]) => writeSync(fd, first, 0, Math.floor(first.length / 2)))
for (const name of ['writeFileSync', 'mkdirSync', 'renameSync', 'rmSync']) counted(fs, name)
for (const name of ['rename', 'rm']) counted(fs.promises, name)
syncBuiltinESMExports()

const { openEnvironment } = await import('../../../dist/replay/environment/open.js')
const { runRollouts } = await import('../../../dist/replay/run/run-rollouts.js')
const { runOptions } = await import('./killed-run-options.mjs')
const environment = await openEnvironment(process.argv[2])
await runRollouts(environment, { ...runOptions, folder: process.argv[3] })
await environment.close()
console.log(writes)
