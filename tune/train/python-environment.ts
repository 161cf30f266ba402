// The trainer's Python: where it is, whether it is the one that the lock file says, and how it is made. Nothing is installed but by `setUpPython`.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { HomegroundError } from '@homeground/sdk/trace'

const require = createRequire(import.meta.url)

/** The Python package, beside the compiled code. */
export const trainerFolder = path.join(path.dirname(require.resolve('homeground/package.json')), 'tune', 'trainer')

/** What may be installed beside the trainer: `quantize` (4-bit on CUDA), `smollm2` (a small real model to try), `interop` (verifiers), `dev` (its tests). */
export const pythonExtras = ['quantize', 'smollm2', 'interop', 'dev'] as const
export type PythonExtra = (typeof pythonExtras)[number]

export interface PythonPlace {
  /** Homeground's folder, in which `python/` lies. @default .homeground */
  folder?: string
  /** @default process.env */
  environment?: Readonly<Record<string, string | undefined>>
}

export interface PythonState {
  /** The interpreter to use; absent where there is none. */
  python?: string
  /** Why it cannot be used, and the command that mends it. */
  fault?: { says: string; mend: string }
}

/** Looks without starting anything. `HOMEGROUND_PYTHON` names an interpreter that has the packages already. */
export function pythonState(place: PythonPlace = {}): PythonState {
  const given = (place.environment ?? process.env)['HOMEGROUND_PYTHON']
  if (given !== undefined && given !== '') {
    if (fs.existsSync(given)) return { python: given }
    return { fault: { says: `HOMEGROUND_PYTHON is ${given}, which is not there`, mend: 'unset it, or name a Python interpreter' } }
  }
  const folder = pythonFolder(place)
  const python = path.join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')
  if (!fs.existsSync(python)) {
    return { fault: { says: `the trainer's Python environment is not in ${folder}`, mend: 'homeground tune setup' } }
  }
  if (readStamp(folder)?.lock !== lockHash()) {
    return { fault: { says: `the trainer's Python environment in ${folder} is of another version`, mend: 'homeground tune setup' } }
  }
  return { python }
}

/** The interpreter. @throws HomegroundError python-missing */
export function requirePython(place: PythonPlace = {}): string {
  const { python, fault } = pythonState(place)
  if (python !== undefined && fault === undefined) return python
  throw new HomegroundError('python-missing', fault?.says ?? 'there is no Python', { hint: `run \`${fault?.mend}\`` })
}

/** Variables that every Python process of ours gets: the package beside this code, no line buffering, no noise. */
export function pythonVariables(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string | undefined> {
  const before = environment['PYTHONPATH']
  return {
    ...environment,
    PYTHONPATH: before === undefined || before === '' ? trainerFolder : `${trainerFolder}${path.delimiter}${before}`,
    PYTHONUNBUFFERED: '1',
    TOKENIZERS_PARALLELISM: 'false',
    TRL_EXPERIMENTAL_SILENCE: '1',
    HF_HUB_DISABLE_TELEMETRY: '1',
  }
}

/**
 * Makes the environment with uv from the lock file, or brings it up to date; extras installed before stay. uv is taken from the PATH, else installed
 * into a virtual environment of its own. @param say gets progress, line by line @throws HomegroundError setup-failed
 */
export async function setUpPython(
  options: PythonPlace & { extras?: readonly PythonExtra[]; say?: (line: string) => void } = {},
): Promise<{ python: string; extras: PythonExtra[] }> {
  const say = options.say ?? (() => {})
  const folder = pythonFolder(options)
  const extras = pythonExtras.filter(
    (extra) => options.extras?.includes(extra) === true || readStamp(folder)?.extras.includes(extra) === true,
  )
  const uv = await findUv(path.dirname(folder), say)
  say(`installing torch, transformers, TRL and PEFT into ${folder} (about 6 GB on disk; PyPI's torch brings CUDA)`)
  const groups = extras.flatMap((extra) => (extra === 'quantize' ? ['--extra', extra] : ['--group', extra]))
  // Compiled once here: with PYTHONDONTWRITEBYTECODE set, as containers do, each start would compile 4,000 modules anew, for half a minute.
  const given = [
    'sync',
    '--frozen',
    '--no-default-groups',
    '--no-install-project',
    '--compile-bytecode',
    '--project',
    trainerFolder,
    ...groups,
  ]
  await runOrThrow(uv, given, { ...process.env, UV_PROJECT_ENVIRONMENT: path.resolve(folder), VIRTUAL_ENV: undefined })
  fs.writeFileSync(path.join(folder, stampName), JSON.stringify({ lock: lockHash(), extras }))
  return { python: requirePython({ ...options, environment: {} }), extras }
}

const stampName = '.homeground.json'

function pythonFolder(place: PythonPlace): string {
  const folder = place.folder ?? (place.environment ?? process.env)['HOMEGROUND_FOLDER'] ?? '.homeground'
  return path.resolve(folder, 'python')
}

function readStamp(folder: string): { lock: string; extras: PythonExtra[] } | undefined {
  try {
    const stamp: unknown = JSON.parse(fs.readFileSync(path.join(folder, stampName), 'utf8'))
    if (typeof stamp !== 'object' || stamp === null || !('lock' in stamp) || typeof stamp.lock !== 'string') return undefined
    const had = 'extras' in stamp && Array.isArray(stamp.extras) ? stamp.extras : []
    return { lock: stamp.lock, extras: pythonExtras.filter((extra) => had.includes(extra)) }
  } catch {
    return undefined
  }
}

function lockHash(): string {
  return createHash('sha256')
    .update(fs.readFileSync(path.join(trainerFolder, 'uv.lock')))
    .digest('hex')
}

async function findUv(home: string, say: (line: string) => void): Promise<string> {
  if (spawnSync('uv', ['--version'], { stdio: 'ignore' }).status === 0) return 'uv'
  const folder = path.join(home, 'uv')
  const scripts = path.join(folder, process.platform === 'win32' ? 'Scripts' : 'bin')
  const uv = path.join(scripts, process.platform === 'win32' ? 'uv.exe' : 'uv')
  if (fs.existsSync(uv)) return uv
  say(`uv is not on the PATH: installing it into ${folder}`)
  const python = ['python3', 'python'].find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0)
  if (python === undefined) {
    throw new HomegroundError('setup-failed', 'there is no python3 on the PATH', { hint: 'install Python 3.11 or newer, or uv' })
  }
  await runOrThrow(python, ['-m', 'venv', folder], process.env)
  await runOrThrow(path.join(scripts, 'python'), ['-m', 'pip', 'install', '--quiet', 'uv'], process.env)
  return uv
}

function runOrThrow(program: string, given: readonly string[], environment: Record<string, string | undefined>): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, given, { env: environment, stdio: ['ignore', 2, 2] })
    const fail = (how: string): void =>
      reject(
        new HomegroundError('setup-failed', `${path.basename(program)} ${given.slice(0, 2).join(' ')} ${how}`, {
          hint: 'look at the lines above: the package index may be out of reach, or the disk full; then run `homeground tune setup` again',
        }),
      )
    child.once('error', (error) => fail(`did not start: ${error.message}`))
    child.once('exit', (code) => (code === 0 ? resolve() : fail(`ended with ${code}`)))
  })
}
