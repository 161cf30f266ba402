// `homeground doctor`: what is there, and the exact command that mends what is not. Exit 1 where something that every user needs is missing.
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { HomegroundError } from '@homeground/sdk/trace'
import type { Command } from 'commander'
import { collectorSettings, kafkaOptions, openDeadLetters } from '../collector/index.ts'
import { engineFolder, locateEngine, openStore, readSettings, startEngine, storeSettings } from '../store/index.ts'
import { pythonState } from '../tune/train/index.ts'
import { quietLog } from './quiet-log.ts'
import { environmentWith, folderOption, wantsJson } from './store-options.ts'
import { inert } from './terminal.ts'
import { unseenClients } from './unseen-clients.ts'

const run = promisify(execFile)

interface Finding {
  part: string
  /** `missing` is a fault only where `needed`. */
  state: 'ok' | 'missing'
  needed: boolean
  says: string
  mend?: string
}

export function register(program: Command): void {
  program
    .command('doctor')
    .description('says what is there (Node, engine, Kafka, Python, CUDA) and the exact command that mends what is not')
    .addOption(folderOption())
    .action(async (options: { folder?: string }, command: Command) => {
      const environment = environmentWith({ HOMEGROUND_FOLDER: options.folder })
      const findings = [
        node(),
        ...(await store(environment)),
        ...(await kafka(environment)),
        await java(),
        await python(environment),
        await cuda(),
        ...clients(),
      ]
      if (wantsJson(command)) process.stdout.write(`${JSON.stringify(findings)}\n`)
      else for (const finding of findings) process.stdout.write(line(finding))
      if (findings.some(({ state, needed }) => needed && state === 'missing')) process.exitCode = 1
    })
}

function line({ part, state, needed, says, mend }: Finding): string {
  const mark = state === 'ok' ? 'ok     ' : needed ? 'MISSING' : 'absent '
  return `${mark}  ${part.padEnd(10)} ${inert(says)}\n${mend === undefined ? '' : `                    mend: ${inert(mend)}\n`}`
}

function node(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isOk = major > 20 || (major === 20 && minor >= 19)
  return {
    part: 'Node',
    state: isOk ? 'ok' : 'missing',
    needed: true,
    says: `Node ${process.versions.node}`,
    ...(isOk ? {} : { mend: 'install Node 20.19 or newer' }),
  }
}

async function store(environment: Readonly<Record<string, string | undefined>>): Promise<Finding[]> {
  try {
    const settings = readSettings(storeSettings, environment)
    const url = settings.HOMEGROUND_CLICKHOUSE_URL
    if (url !== undefined) {
      await (await openStore({ environment })).close()
      return [{ part: 'ClickHouse', state: 'ok', needed: true, says: `the server at ${new URL(url).host} answers` }]
    }
    const library = locateEngine()
    const folder = engineFolder(settings.HOMEGROUND_FOLDER)
    // An engine in a folder of its own: looking must not touch what is there.
    const trial = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-doctor-'))
    try {
      const engine = await startEngine({ folder: trial })
      await engine.close({ stop: true })
    } finally {
      fs.rmSync(trial, { recursive: true, force: true })
    }
    return [{ part: 'ClickHouse', state: 'ok', needed: true, says: `the embedded engine starts (${library}); its data is in ${folder}` }]
  } catch (error) {
    if (!HomegroundError.is(error)) throw error
    return [{ part: 'ClickHouse', state: 'missing', needed: true, says: error.message, mend: error.hint }]
  }
}

/** Nothing where no broker is set: then rows go straight into the store. */
async function kafka(environment: Readonly<Record<string, string | undefined>>): Promise<Finding[]> {
  try {
    const options = kafkaOptions(readSettings(collectorSettings, environment))
    if (options === undefined) return []
    await (await openDeadLetters(options, quietLog)).close()
    return [{ part: 'Kafka', state: 'ok', needed: true, says: `the brokers at ${options.brokers.join(', ')} answer` }]
  } catch (error) {
    if (!HomegroundError.is(error)) throw error
    return [{ part: 'Kafka', state: 'missing', needed: true, says: error.message, mend: error.hint }]
  }
}

async function java(): Promise<Finding> {
  const version = await firstLine('java', ['-version'])
  if (version === undefined)
    return {
      part: 'Java',
      state: 'missing',
      needed: false,
      says: 'only our tests use it, for a Kafka broker',
      mend: 'install a JRE of version 17 or newer, e.g. apt-get install openjdk-17-jre-headless',
    }
  return { part: 'Java', state: 'ok', needed: false, says: `${version} (for a Kafka broker in tests)` }
}

async function python(environment: Readonly<Record<string, string | undefined>>): Promise<Finding> {
  const { python: interpreter, fault } = pythonState({ environment })
  if (interpreter === undefined || fault !== undefined) {
    return {
      part: 'Python',
      state: 'missing',
      needed: false,
      says: `${fault?.says ?? 'no interpreter'} (for the trainer)`,
      mend: fault?.mend ?? '',
    }
  }
  return {
    part: 'Python',
    state: 'ok',
    needed: false,
    says: `${await firstLine(interpreter, ['--version'])} with the trainer's packages (${interpreter})`,
  }
}

async function cuda(): Promise<Finding> {
  const gpu = await firstLine('nvidia-smi', ['--query-gpu=name,driver_version', '--format=csv,noheader'])
  if (gpu === undefined)
    return { part: 'CUDA', state: 'missing', needed: false, says: 'no NVIDIA driver answers: the trainer will use the CPU' }
  return { part: 'CUDA', state: 'ok', needed: false, says: gpu }
}

/** HTTP clients of the project in this folder whose calls the SDK does not see. */
function clients(): Finding[] {
  let text: string
  try {
    text = fs.readFileSync('package.json', 'utf8')
  } catch {
    return []
  }
  return unseenClients(text).map(({ name, why, mend }) => ({
    part: 'Recording',
    state: 'missing' as const,
    needed: false,
    says: `${name} ${why}: model calls made through it are not recorded (docs/sdk/what-fetch-cannot-see.md)`,
    mend,
  }))
}

/** The first line that a program prints (java prints on stderr); undefined where it is not there. */
async function firstLine(program: string, given: readonly string[]): Promise<string | undefined> {
  try {
    const { stdout, stderr } = await run(program, given, { timeout: 15_000 })
    return `${stdout}${stderr}`.split('\n', 1)[0]?.trim()
  } catch {
    return undefined
  }
}
