// Writes an environment as a package for verifiers, with the episodes that were chosen as its traces, an upload file, and settings for prime-rl beside it.
import { existsSync, readdirSync } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import { HomegroundError, JsonLinesWriter, makeFolder, parseInput, readJsonLines } from '@homeground/sdk/trace'
import { z } from 'zod'
import type { Environment } from '../../replay/environment/types.ts'
import { type DatasetOptions, type DatasetReport, type DatasetSource, writeDataset } from '../dataset/index.ts'
import { trainerFolder } from '../train/index.ts'
import { episodeRecord, taskData } from './episode-record.ts'
import { type PackageAbout, primeRl, pyproject, readme } from './settings-files.ts'

export interface WrittenPackage {
  folder: string
  taskset: string
  tasks: number
  /** Lines of traces.jsonl and rows of openai.jsonl. */
  episodes: number
  dataset: DatasetReport
}

export interface PackageOptions {
  source: DatasetSource
  environment: Pick<Environment, 'folder' | 'file'>
  dataset: Omit<DatasetOptions, 'format'>
  /** What starts Homeground; written into the package. */
  command: readonly string[]
  from: readonly string[]
}

/** `folder` must not be there, be empty, or be such a package, which is written anew. @throws HomegroundError invalid-argument, and as `writeDataset` */
export async function writeVerifiersPackage(folder: string, options: PackageOptions): Promise<WrittenPackage> {
  const { source, environment } = options
  refuseFolder(folder)
  const split = options.dataset.split ?? 'train'
  const taskset = tasksetOf(environment.file)
  const module = taskset.replaceAll('-', '_')
  makeFolder(path.join(folder, module))
  for (const name of ['__init__.py', 'taskset.py', 'harness.py'])
    await fs.copyFile(path.join(trainerFolder, 'homeground_tune', 'verifiers_package', name), path.join(folder, module, name))
  const place = { name: environment.file.name, hash: environment.file.hash, folder: path.resolve(environment.folder) }
  await fs.writeFile(
    path.join(folder, module, 'environment.json'),
    `${JSON.stringify({ format: 1, ...place, command: options.command }, null, 2)}\n`,
  )
  const tasks = await writeTasks(path.join(folder, module, 'tasks.jsonl'), source, split)
  const upload = path.join(folder, 'openai.jsonl')
  const dataset = await writeDataset(source, upload, { ...options.dataset, format: 'openai-sft' }, { from: options.from })
  const episodes = dataset.rows === 0 ? 0 : await writeTraces(folder, source, tasks, taskset)
  const about: PackageAbout = { taskset, module, environment: place, split, tasks: tasks.size, episodes }
  await fs.writeFile(path.join(folder, 'pyproject.toml'), pyproject(about))
  await fs.writeFile(path.join(folder, 'prime-rl.toml'), primeRl(about))
  await fs.writeFile(path.join(folder, 'README.md'), readme(about))
  return { folder, taskset, tasks: tasks.size, episodes, dataset }
}

/** `Support desk` is homeground-support-desk. A name without any letter that packages may have goes by the environment's hash. */
function tasksetOf({ name, hash }: { name: string; hash: string }): string {
  const word = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return `homeground-${word || hash.slice(0, 12)}`
}

/** Tasks by id, as the package has them. */
async function writeTasks(file: string, source: DatasetSource, split: string): Promise<Map<string, ReturnType<typeof taskData>>> {
  const out = await JsonLinesWriter.open(file)
  const tasks = new Map<string, ReturnType<typeof taskData>>()
  for await (const task of source.tasks()) {
    if (task.split !== split) continue
    const data = taskData(task)
    tasks.set(task.id, data)
    await out.write(data)
  }
  await out.close()
  return tasks
}

/** The episodes that the upload file has rows of. */
async function writeTraces(
  folder: string,
  source: DatasetSource,
  tasks: ReadonlyMap<string, ReturnType<typeof taskData>>,
  taskset: string,
): Promise<number> {
  const kept = new Set<string>()
  const sources = path.join(folder, 'openai.sources.jsonl')
  for await (const { value, line } of readJsonLines(sources)) {
    const { episodes } = parseInput(sourcesLine, value, { place: `${sources}:${line}`, what: 'a line of where rows came from' })
    for (const { id } of episodes) kept.add(id)
  }
  const out = await JsonLinesWriter.open(path.join(folder, 'traces.jsonl'))
  let count = 0
  for await (const candidate of source.candidates()) {
    if (!kept.delete(candidate.episode.id)) continue
    await out.write(episodeRecord(candidate, tasks.get(candidate.task) ?? { id: candidate.task }, taskset))
    count += 1
  }
  await out.close()
  return count
}

const sourcesLine = z.looseObject({ episodes: z.array(z.looseObject({ id: z.string() })) })

function refuseFolder(folder: string): void {
  const names = existsSync(folder) ? namesIn(folder) : []
  if (names.length === 0 || names.includes('prime-rl.toml')) return
  throw new HomegroundError('invalid-argument', `${folder} is there, and is no package that this has written`, {
    hint: 'give a new folder with --out',
  })
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (cause) {
    throw new HomegroundError('invalid-argument', `${folder} is no folder`, { hint: 'give a new folder with --out', cause })
  }
}
