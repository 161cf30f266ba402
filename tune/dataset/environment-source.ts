// The recordings of an environment as candidates: what the product did in production, with the score that its task's reference gives it.
import { openEnvironment } from '../../replay/environment/open.ts'
import type { Environment } from '../../replay/environment/types.ts'
import type { Candidate, DatasetSource } from './types.ts'

/** Close it when done. @throws HomegroundError not-found, environment-invalid */
export async function environmentSource(folder: string): Promise<DatasetSource & { close(): Promise<void> }> {
  const environment = await openEnvironment(folder)
  return { candidates: () => recordings(environment), tasks: () => environment.tasks(), close: () => environment.close() }
}

async function* recordings(environment: Environment): AsyncGenerator<Candidate> {
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
