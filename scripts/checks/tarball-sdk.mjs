// @homeground/sdk, packed and installed alone in an empty app: every entry imports, its types compile, and it brings no more packages than it says.
import fs from 'node:fs'
import path from 'node:path'
import { check, root, withApp } from './empty-app.mjs'

withApp(['sdk'], ({ folder, tarballs, run }) => {
  const [{ files }] = tarballs
  check(files.includes('README.md') && files.includes('LICENSE'), 'the tarball brings README and LICENSE')
  check(
    files.every((file) => /^(dist\/|README\.md$|LICENSE$|package\.json$)/.test(file)),
    'the tarball holds dist, README, LICENSE and package.json alone',
  )

  const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'node_modules', '@homeground', 'sdk', 'package.json'), 'utf8'))
  const installed = Object.keys(JSON.parse(fs.readFileSync(path.join(folder, 'package-lock.json'), 'utf8')).packages)
    .filter((name) => name !== '')
    .map((name) => name.replace(/^.*node_modules\//, ''))
    .sort()
  const expected = ['@homeground/sdk', ...Object.keys(manifest.dependencies ?? {}), ...Object.keys(manifest.peerDependencies ?? {})].sort()
  check(
    JSON.stringify(installed) === JSON.stringify(expected),
    `the SDK brings ${expected.join(', ')} and nothing else (found ${installed.join(', ')})`,
  )

  const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json')
  for (const entry of entries) {
    const name = path.posix.join('@homeground/sdk', entry)
    const names = run(process.execPath, ['--input-type=module', '-e', `console.log(Object.keys(await import('${name}')).join(' '))`]).trim()
    check(true, `${name} imports: ${names || '(types only)'}`)
    run(process.execPath, ['--input-type=commonjs', '-e', `require('${name}')`])
    check(true, `${name} can be required from CommonJS`)
  }

  fs.writeFileSync(
    path.join(folder, 'types.ts'),
    entries
      .map((entry, index) => `import * as entry${index} from '${path.posix.join('@homeground/sdk', entry)}'\nvoid entry${index}\n`)
      .join(''),
  )
  const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const types = path.join(root, 'node_modules', '@types')
  run(process.execPath, [
    tsc,
    '--noEmit',
    '--strict',
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--types',
    'node',
    '--typeRoots',
    types,
    'types.ts',
  ])
  check(true, 'the types of every entry compile in a strict project without skipLibCheck')
})
