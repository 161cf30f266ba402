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
  const tasks = await rewrite(path.join(absolute, files.tasks), (value, place) => {
    const { hash: _hash, id, ...content } = parseInput(taskSchema, value, { place, what: 'a task', code: 'environment-invalid' })
    return { id, hash: taskHash({ id, ...content }), ...content }
  })
  const tapes = await rewrite(path.join(absolute, files.tapes), (value, place) => {
    const tape = parseInput(tapeSchema, value, { place, what: 'a tape', code: 'environment-invalid' })
    return { task: tape.task, entries: tape.entries.map((entry) => ({ ...entry, hash: argumentsHash(entry.arguments) })) }
  })
  const sealed = { ...file, hash: environmentHash({ tasks: tasks.hash, tapes: tapes.hash, rubric, settings: file, folder: absolute }) }
  await tasks.commit()
  await tapes.commit()
  writeJson(path.join(absolute, files.settings), sealed)
  return sealed
}

async function rewrite(
  file: string,
  change: (value: unknown, place: string) => unknown,
): Promise<{ hash: string; commit(): Promise<void> }> {
  const next = `${file}.sealed`
  const writer = await JsonLinesWriter.open(next)
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
  return { hash: hash.digest(), commit: () => fs.promises.rename(next, file) }
}
