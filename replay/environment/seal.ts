// After an edit that was meant: writes the hashes of an environment anew, so that it opens again and runs know that it is another one.
import fs from 'node:fs'
import path from 'node:path'
import { JsonLinesWriter, parseInput, readJsonLines } from '@homeground/sdk/trace'
import { argumentsHash } from '../tape/key.ts'
import { environmentHash, lineHash, taskHash } from './hash.ts'
import { files, readSettings } from './open.ts'
import { type EnvironmentFile, tapeSchema, taskSchema } from './types.ts'
import { writeJson } from './write.ts'

/** @throws HomegroundError not-found, environment-invalid, unknown-grader: an edit broke the format */
export async function sealEnvironment(folder: string): Promise<EnvironmentFile> {
  const absolute = path.resolve(folder)
  const { file, rubric } = readSettings(absolute)
  const [tasksFile, tapesFile] = [path.join(absolute, files.tasks), path.join(absolute, files.tapes)]
  try {
    const tasks = await rewrite(tasksFile, (value, place) => {
      const { hash: _hash, id, ...content } = parseInput(taskSchema, value, { place, what: 'a task', code: 'environment-invalid' })
      return { id, hash: taskHash({ id, ...content }), ...content }
    })
    const tapes = await rewrite(tapesFile, (value, place) => {
      const tape = parseInput(tapeSchema, value, { place, what: 'a tape', code: 'environment-invalid' })
      return { task: tape.task, entries: tape.entries.map((entry) => ({ ...entry, hash: argumentsHash(entry.arguments) })) }
    })
    const sealed = { ...file, hash: environmentHash({ tasks, tapes, rubric, settings: file, folder: absolute }) }
    for (const each of [tasksFile, tapesFile]) await fs.promises.rename(rewritten(each), each)
    writeJson(path.join(absolute, files.settings), sealed)
    return sealed
  } finally {
    // Where an edit broke the format nothing is taken over, and nothing is left.
    for (const each of [tasksFile, tapesFile]) await fs.promises.rm(rewritten(each), { force: true })
  }
}

function rewritten(file: string): string {
  return `${file}.sealed`
}

/** Writes the lines anew beside the file; gives their hash. */
async function rewrite(file: string, change: (value: unknown, place: string) => unknown): Promise<string> {
  const writer = await JsonLinesWriter.open(rewritten(file))
  const hash = lineHash()
  try {
    for await (const { value, line } of readJsonLines(file)) {
      const text = JSON.stringify(change(value, `${file}:${line}`))
      hash.add(text)
      await writer.writeText(text)
    }
    await writer.close()
  } catch (error) {
    await writer.abort()
    throw error
  }
  return hash.digest()
}
