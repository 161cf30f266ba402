// Writes an environment folder, whole or not at all: built beside its place under another name, then renamed. Tasks stream through.
import fs from 'node:fs'
import path from 'node:path'
import { formatEpisodeLine, HomegroundError, JsonLinesWriter, makeFolder, removeLeftovers } from '@homeground/sdk/trace'
import type { Rubric } from '../rubric/types.ts'
import { environmentHash, lineHash } from './hash.ts'
import { files } from './open.ts'
import type { BuiltTask } from './tasks.ts'
import type { EnvironmentFile } from './types.ts'

/** What is known once all tasks have passed. */
export interface EnvironmentEnd {
  file: Omit<EnvironmentFile, 'format' | 'hash'>
  rubric: Rubric
  /** README.md, given the finished env.json. */
  card(file: EnvironmentFile): string
}

/**
 * `end` is called after the last task. A folder that stands there is replaced only if it is an environment.
 * @throws HomegroundError invalid-argument: the folder is something else. Whatever `tasks` throws leaves the place as it was.
 */
export async function writeEnvironment(
  folder: string,
  tasks: AsyncIterable<BuiltTask>,
  end: () => EnvironmentEnd,
): Promise<EnvironmentFile> {
  const target = path.resolve(folder)
  refuseForeignFolder(target)
  removeLeftovers(target)
  const building = `${target}.building-${process.pid}`
  fs.rmSync(building, { recursive: true, force: true })
  makeFolder(building)
  try {
    const hashes = await writeLines(building, tasks)
    const { file: settings, rubric, card } = end()
    const { name, version, ...rest } = settings
    // Mocks and code graders lie in the folder that stands there, and move along.
    const hash = environmentHash({ ...hashes, rubric, settings, folder: target })
    const file: EnvironmentFile = { format: 1, name, version, hash, ...rest }
    writeJson(path.join(building, files.settings), file)
    writeJson(path.join(building, file.rubric), rubric)
    fs.writeFileSync(path.join(building, files.card), card(file))
    replaceFolder(building, target)
    return file
  } catch (error) {
    fs.rmSync(building, { recursive: true, force: true })
    throw error
  }
}

/** Two-space JSON with a final line end, as people edit it. */
export function writeJson(file: string, value: unknown): void {
  removeLeftovers(file)
  const next = `${file}.${process.pid}.tmp`
  fs.writeFileSync(next, `${JSON.stringify(value, null, 2)}\n`)
  fs.renameSync(next, file)
}

async function writeLines(folder: string, tasks: AsyncIterable<BuiltTask>): Promise<{ tasks: string; tapes: string }> {
  const out = {
    tasks: await JsonLinesWriter.open(path.join(folder, files.tasks)),
    tapes: await JsonLinesWriter.open(path.join(folder, files.tapes)),
    recordings: await JsonLinesWriter.open(path.join(folder, files.recordings)),
  }
  const hashes = { tasks: lineHash(), tapes: lineHash() }
  let lastRecording = ''
  try {
    for await (const { task, entries, recording } of tasks) {
      const taskLine = JSON.stringify(task)
      hashes.tasks.add(taskLine)
      await out.tasks.writeText(taskLine)
      const tapeLine = JSON.stringify({ task: task.id, entries })
      hashes.tapes.add(tapeLine)
      await out.tapes.writeText(tapeLine)
      // The tasks of one episode follow each other and share its recording.
      if (recording.id !== lastRecording) await out.recordings.writeText(formatEpisodeLine(recording))
      lastRecording = recording.id
    }
    await Promise.all([out.tasks.close(), out.tapes.close(), out.recordings.close()])
  } catch (error) {
    await Promise.all([out.tasks.abort(), out.tapes.abort(), out.recordings.abort()])
    throw error
  }
  return { tasks: hashes.tasks.digest(), tapes: hashes.tapes.digest() }
}

function refuseForeignFolder(target: string): void {
  if (!fs.existsSync(target)) return
  if (fs.statSync(target).isDirectory() && (fs.readdirSync(target).length === 0 || fs.existsSync(path.join(target, files.settings)))) return
  throw new HomegroundError('invalid-argument', `${target} exists and is not an environment folder (it has no ${files.settings})`, {
    hint: 'give another folder with --out',
  })
}

/** What else lies in the old folder (mocks, code graders) moves along. */
function replaceFolder(building: string, target: string): void {
  if (!fs.existsSync(target)) {
    fs.renameSync(building, target)
    return
  }
  const old = `${target}.old-${process.pid}`
  for (const name of fs.readdirSync(target)) {
    if (!fs.existsSync(path.join(building, name))) fs.cpSync(path.join(target, name), path.join(building, name), { recursive: true })
  }
  fs.renameSync(target, old)
  try {
    fs.renameSync(building, target)
  } catch (error) {
    fs.renameSync(old, target)
    throw error
  }
  fs.rmSync(old, { recursive: true, force: true })
}
