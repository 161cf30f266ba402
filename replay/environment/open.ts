// Opens an environment folder, strictly: what is missing, broken or changed since it was built is an error that names the file and the line.
import fs from 'node:fs'
import path from 'node:path'
import { errorText, HomegroundError, parseInput } from '@homeground/sdk/trace'
import type { z } from 'zod'
import { parseRubric } from '../rubric/parse-rubric.ts'
import type { Rubric } from '../rubric/types.ts'
import { argumentsHash } from '../tape/key.ts'
import { environmentHash, taskHash } from './hash.ts'
import { indexLines, type LineIndex } from './line-index.ts'
import { Recordings } from './recordings.ts'
import { type Environment, type EnvironmentFile, environmentSchema, type Task, type TaskTape, tapeSchema, taskSchema } from './types.ts'

/** The files of an environment folder. */
export const files = {
  settings: 'env.json',
  tasks: 'tasks.jsonl',
  tapes: 'tapes.jsonl',
  recordings: 'recordings.jsonl.gz',
  card: 'README.md',
} as const

/**
 * Close it when done: it holds two files open.
 * @throws HomegroundError not-found, environment-invalid, unknown-grader
 */
export async function openEnvironment(folder: string): Promise<Environment> {
  const absolute = path.resolve(folder)
  const { file, rubric } = readSettings(absolute)
  const tasks = await openLines(absolute, files.tasks, 'id')
  const tapes = await openLines(absolute, files.tapes, 'task').catch(async (error: unknown) => {
    await tasks.close()
    throw error
  })
  // Built together, they stand in one order: one table does for both.
  if (tapes.ids.equals(tasks.ids)) tapes.ids = tasks.ids
  const recordingsFile = path.join(absolute, files.recordings)
  const recordings = new Recordings(recordingsFile)
  const close = async () => {
    await Promise.all([tasks.close(), tapes.close(), recordings.close()])
  }
  const environment: Environment = {
    folder: absolute,
    file,
    rubric,
    size: tasks.size,
    hasRecordings: fs.existsSync(recordingsFile),
    async *tasks(filter) {
      const ids = filter?.ids === undefined ? undefined : new Set(filter.ids)
      for (let position = 0; position < tasks.size; position += 1) {
        if (ids !== undefined && !ids.has(tasks.ids.at(position))) continue
        const task = await readTask(absolute, tasks, position)
        if (filter?.split === undefined || task.split === filter.split) yield task
      }
    },
    async task(id) {
      const position = tasks.ids.indexOf(id)
      return position === undefined ? undefined : await readTask(absolute, tasks, position)
    },
    async tape(id) {
      return await readTape(absolute, tapes, positionOf(tapes, id, path.join(absolute, files.tapes)))
    },
    async recording(id) {
      const task = await readTask(absolute, tasks, positionOf(tasks, id, path.join(absolute, files.tasks)))
      return await recordings.find(task.source.episode ?? task.source.trace)
    },
    close,
  }
  try {
    await checkWhole(environment, tasks, tapes)
  } catch (error) {
    await close()
    throw error
  }
  return environment
}

/** env.json and the rubric, parsed. @throws HomegroundError not-found, environment-invalid, unknown-grader */
export function readSettings(folder: string): { file: EnvironmentFile; rubric: Rubric } {
  if (!fs.existsSync(folder)) {
    throw new HomegroundError('not-found', `${folder}: there is no such environment folder`, {
      hint: 'homeground env build makes one; check the path',
    })
  }
  const file = parsed(
    environmentSchema,
    readSettingsFile(folder, files.settings),
    path.join(folder, files.settings),
    'an environment (format 1)',
  )
  return { file, rubric: parseRubric(readSettingsFile(folder, file.rubric), path.join(folder, file.rubric)) }
}

async function checkWhole(environment: Environment, tasks: LineIndex, tapes: LineIndex): Promise<void> {
  const { folder, file, rubric } = environment
  rejectDoubles(tasks, path.join(folder, files.tasks), 'task')
  rejectDoubles(tapes, path.join(folder, files.tapes), 'tape')
  if (environmentHash({ tasks: tasks.hash, tapes: tapes.hash, rubric, settings: file, folder }) !== file.hash) {
    // The place first, where a line itself is wrong.
    for (let position = 0; position < tasks.size; position += 1) await readTask(folder, tasks, position, false)
    for (let position = 0; position < tapes.size; position += 1) await readTape(folder, tapes, position, false)
    throw new HomegroundError(
      'environment-invalid',
      `${path.join(folder, files.settings)}: hash: tasks, tapes, rubric, a mock, a code grader or how env.json plays them have changed since it was built (expected ${file.hash})`,
      { hint: `if you meant the change: homeground env seal ${folder}; else take the folder from its source again` },
    )
  }
  if (tapes.ids === tasks.ids) return
  for (let position = 0; position < tasks.size; position += 1) {
    const id = tasks.ids.at(position)
    if (tapes.ids.indexOf(id) === undefined)
      throw invalid(`${path.join(folder, files.tapes)}: no line for task ${id} (${files.tasks}:${tasks.line(position)})`)
  }
  for (let position = 0; position < tapes.size; position += 1) {
    const id = tapes.ids.at(position)
    if (tasks.ids.indexOf(id) === undefined)
      throw invalid(`${path.join(folder, files.tapes)}:${tapes.line(position)}: there is no task ${id}`)
  }
}

/** With `checked`, the hash of the whole file has been seen to be right: the line's own says nothing more. */
async function readTask(folder: string, index: LineIndex, position: number, checked = true): Promise<Task> {
  const place = `${path.join(folder, files.tasks)}:${index.line(position)}`
  const task = parsed(taskSchema, parseLine(await index.read(position), place), place, 'a task')
  if (checked) return task
  const { hash, ...content } = task
  const found = taskHash(content)
  if (found !== hash) {
    throw new HomegroundError(
      'environment-invalid',
      `${place}: task ${task.id} has changed since it was built: hash says ${hash}, content gives ${found}`,
      {
        hint: `if you meant the change: homeground env seal ${folder}; else take the folder from its source again`,
      },
    )
  }
  return task
}

async function readTape(folder: string, index: LineIndex, position: number, checked = true): Promise<TaskTape> {
  const place = `${path.join(folder, files.tapes)}:${index.line(position)}`
  const tape = parsed(tapeSchema, parseLine(await index.read(position), place), place, 'a tape')
  for (const entry of checked ? [] : tape.entries) {
    if (argumentsHash(entry.arguments) !== entry.hash) {
      throw new HomegroundError('environment-invalid', `${place}: entry ${entry.seq} (${entry.name}): hash does not fit its arguments`, {
        hint: `if you meant the change: homeground env seal ${folder}; else take the folder from its source again`,
      })
    }
  }
  return tape
}

function rejectDoubles(index: LineIndex, file: string, what: string): void {
  if (!index.ids.hasDoubles) return
  for (let position = 0; position < index.size; position += 1) {
    const id = index.ids.at(position)
    const first = index.ids.indexOf(id)
    if (id !== '' && first !== undefined && first !== position) {
      throw invalid(`${file}:${index.line(position)}: ${what} ${id} stands in line ${index.line(first)} already`)
    }
  }
}

function positionOf(index: LineIndex, id: string, file: string): number {
  const position = index.ids.indexOf(id)
  if (position === undefined) {
    throw new HomegroundError('not-found', `${file}: there is no task ${id}`, { hint: 'homeground env show ENV --tasks lists them' })
  }
  return position
}

async function openLines(folder: string, name: string, key: 'id' | 'task'): Promise<LineIndex> {
  try {
    return await indexLines(path.join(folder, name), key)
  } catch (cause) {
    throw missingFile(folder, name, cause)
  }
}

function readSettingsFile(folder: string, name: string): unknown {
  let text: string
  try {
    text = fs.readFileSync(path.join(folder, name), 'utf8')
  } catch (cause) {
    throw missingFile(folder, name, cause)
  }
  return parseLine(text, path.join(folder, name))
}

function parseLine(text: string, place: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalid(`${place}: not JSON: ${errorText(cause)}`, cause)
  }
}

function parsed<T>(schema: z.ZodType<T>, value: unknown, place: string, what: string): T {
  return parseInput(schema, value, { place, what, code: 'environment-invalid' })
}

function missingFile(folder: string, name: string, cause: unknown): HomegroundError {
  return invalid(`${path.join(folder, name)}: the file is missing or cannot be read: an environment folder has it`, cause)
}

function invalid(message: string, cause?: unknown): HomegroundError {
  return new HomegroundError('environment-invalid', message, {
    hint: 'mend that place, or build the environment again (docs/formats.md shows the folder)',
    ...(cause === undefined ? {} : { cause }),
  })
}
