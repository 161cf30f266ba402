// Starts overhead.py with the trainer's Python; what is given goes on to it.
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const root = path.resolve(import.meta.dirname, '..', '..')
const { requirePython } = await import(pathToFileURL(path.join(root, 'dist', 'tune', 'train', 'index.js')).href)
const script = path.join(import.meta.dirname, 'overhead.py')
const ended = spawnSync(requirePython({ folder: path.join(root, '.homeground') }), [script, ...process.argv.slice(2)], { stdio: 'inherit' })
process.exitCode = ended.status ?? 3
