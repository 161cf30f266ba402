// The published tau-bench episodes of examples/data, read by the importer as users read them.
import { fileURLToPath } from 'node:url'
import { assembleEpisodes, type Episode } from '@homeground/sdk/trace'
import { referenceOf } from '../../../replay/environment/reference.ts'
import { effectSchema, type Task, type ToolSettings } from '../../../replay/environment/types.ts'
import { importerOf, readTools } from '../../../store/import/index.ts'
import { sampleTask } from './sample.ts'

const data = (name: string) => fileURLToPath(new URL(`../../../examples/data/${name}`, import.meta.url))

/** As env.json has them. */
export async function tauBenchTools(): Promise<Record<string, ToolSettings>> {
  const tools = await readTools(data('tau-airline-tools.json'))
  return Object.fromEntries(
    tools.map(({ name, effect }) => [name, { effect: effectSchema.parse(effect), mode: 'tape' as const, onMiss: 'error' as const }]),
  )
}

export interface TauBenchEpisode {
  taskId: number
  trial: number
  reward: number
  episode: Episode
  task: Task
}

export async function tauBenchEpisodes(): Promise<TauBenchEpisode[]> {
  const settings = { project: undefined, model: 'gpt-4o', tools: await readTools(data('tau-airline-tools.json')) }
  const read: TauBenchEpisode[] = []
  for await (const { rows, feedback } of importerOf('tau-bench').read(data('tau-airline-gpt4o.jsonl.gz'), settings)) {
    const [episode] = assembleEpisodes(rows, feedback)
    if (!episode) throw new Error('no episode')
    read.push({
      taskId: Number(/\d+$/.exec(episode.source.task ?? '')?.[0]),
      trial: episode.source.repeat ?? -1,
      reward: Number(episode.feedback.find(({ name }) => name === 'reward')?.value),
      episode,
      task: sampleTask(referenceOf(episode)),
    })
  }
  return read
}
