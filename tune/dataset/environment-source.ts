// The recordings of an environment as candidates: what the product did in production, with the score that its task's reference gives it.
import fs from 'node:fs'
import path from 'node:path'
import { files, openEnvironment } from '../../replay/environment/open.ts'
import type { Environment } from '../../replay/environment/types.ts'
import type { Candidate, FolderSource } from './types.ts'

/** Close it when done. @throws HomegroundError not-found, environment-invalid */
export async function environmentSource(folder: string): Promise<FolderSource> {
  const environment = await openEnvironment(folder)
  return { environment, candidates: () => recordings(environment), tasks: () => environment.tasks(), close: () => environment.close() }
}

/** An environment that was written by hand has none. */
async function* recordings(environment: Environment): AsyncGenerator<Candidate> {
  if (!fs.existsSync(path.join(environment.folder, files.recordings))) return
  const seen = new Set<string>()
  for await (const task of environment.tasks()) {
    const id = task.source.episode ?? task.source.trace
    // Tasks of single decisions share their episode: its turns are trained once.
    if (seen.has(id)) continue
    seen.add(id)
    const episode = await environment.recording(task.id)
    if (episode === undefined) continue
    yield { episode, task: task.id, session: task.session, split: task.split, score: task.reference?.score }
  }
}
