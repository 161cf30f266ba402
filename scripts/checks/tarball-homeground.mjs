// homeground and @homeground/sdk, packed and installed in an empty app: the command line runs, and the library imports.
import fs from 'node:fs'
import path from 'node:path'
import { check, root, withApp } from './empty-app.mjs'

withApp(['sdk', '.'], ({ folder, tarballs, run }) => {
  const files = tarballs[1].files
  check(
    files.every((file) => /^(dist\/|tune\/trainer\/|README\.md$|CHANGELOG\.md$|LICENSE$|package\.json$)/.test(file)),
    'the tarball holds dist, the trainer, README, CHANGELOG, LICENSE and package.json alone',
  )
  check(
    files.some((file) => /^dist\/.*\.sql$/.test(file)),
    'the tarball brings the migrations',
  )
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  const homeground = path.join(folder, 'node_modules', '.bin', 'homeground')
  check(run(homeground, ['--version']).trim() === version, `homeground --version says ${version}`)
  const commands = run(homeground, ['--help'])
  for (const command of ['up', 'doctor', 'import', 'traces', 'env', 'run', 'compare', 'dataset']) {
    check(new RegExp(`^  ${command}\\b`, 'm').test(commands), `homeground --help lists ${command}`)
    run(homeground, [command, '--help'])
  }
  const doctor = runDoctor(homeground, run)
  check(/node/i.test(doctor), 'homeground doctor says what is there')
  check(/chdb/.test(doctor), 'homeground doctor names the command that installs the engine')
  const names = run(process.execPath, [
    '--input-type=module',
    '-e',
    "console.log(Object.keys(await import('homeground')).join(' '))",
  ]).trim()
  check(names.length > 0, `homeground imports: ${names}`)
})

/** doctor exits 0 when all is there and 1 when something is missing; here the engine is. */
function runDoctor(homeground, run) {
  try {
    return run(homeground, ['doctor'])
  } catch (error) {
    if (error.status !== 1) throw error
    return String(error.stdout)
  }
}
