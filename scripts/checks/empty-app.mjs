// An empty app in a temporary folder, into which our packed tarballs are installed as a user would.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))))

/** `packages` are folders relative to the root. The app is removed when `use` is done. */
export function withApp(packages, use) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-app-'))
  try {
    const tarballs = packages.map((name) => {
      const [packed] = JSON.parse(
        execFileSync('npm', ['pack', '--json', '--pack-destination', folder, path.join(root, name)], { cwd: root, encoding: 'utf8' }),
      )
      return { name: packed.name, files: packed.files.map((file) => file.path), path: path.join(folder, packed.filename) }
    })
    fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: 'empty-app', private: true, type: 'module' }))
    execFileSync(
      'npm',
      ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', ...tarballs.map((tarball) => tarball.path)],
      {
        cwd: folder,
        stdio: ['ignore', 'inherit', 'inherit'],
      },
    )
    use({
      folder,
      tarballs,
      run: (command, args, options = {}) => execFileSync(command, args, { cwd: folder, encoding: 'utf8', ...options }),
    })
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** Throws with the message when it does not hold. */
export function check(holds, message) {
  if (!holds) throw new Error(message)
  process.stdout.write(`ok: ${message}\n`)
}
