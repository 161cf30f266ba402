// Recorded episodes as arms: which of them belong to which arm is read from a field, e.g. `source.repeat` or `tags.canary`. Paired by task where both have it.
import type { Episode } from '@homeground/sdk/trace'
import { HomegroundError } from '@homeground/sdk/trace'
import type { ComparisonSource, Design, Outcome } from './types.ts'

/** An arm is the episodes whose field has one of these values. */
export interface EpisodeArm {
  name: string
  values: readonly string[]
}

export interface EpisodesSourceOptions {
  title: string
  /** `source.repeat`, `tags.NAME`, `agent.version`, `model`. */
  by: string
  arms: readonly EpisodeArm[]
  /** `two-sample` for live traffic: each episode is a task of its own, and sessions belong to one arm. @default paired */
  design?: Design
  /** Read once for each comparison. */
  episodes: () => AsyncIterable<Episode>
  /** An episode's criteria scores and whole score. */
  score: (episode: Episode) => Promise<Pick<Outcome, 'score' | 'scores'>>
  costUsd: (episode: Episode) => number | undefined
  facts?: { name: string; value: string }[]
}

/** The task of an episode is `source.task`, else its session, else itself; repeats are counted per arm in the order they come. */
export function episodesSource(options: EpisodesSourceOptions): ComparisonSource {
  const { title, by, arms, facts = [], design = 'paired' } = options
  const armOf = new Map(arms.flatMap((arm) => arm.values.map((value) => [value, arm.name])))
  return {
    title,
    design,
    facts: [{ name: 'arms by', value: by }, ...(design === 'paired' ? [] : [{ name: 'design', value: 'two samples, unpaired' }]), ...facts],
    arms: arms.map(({ name, values }) => ({ name, description: `recorded, ${by} = ${values.join(' or ')}` })),
    planned: undefined,
    async *outcomes() {
      const repeats = new Map<string, number>()
      const seen = new Map<string, number>()
      let matched = 0
      for await (const episode of options.episodes()) {
        const value = fieldOf(episode, by)
        seen.set(value ?? '(none)', (seen.get(value ?? '(none)') ?? 0) + 1)
        const arm = value === undefined ? undefined : armOf.get(value)
        if (arm === undefined) continue
        matched += 1
        const session = episode.session ?? episode.id
        const task = design === 'paired' ? (episode.source.task ?? session) : episode.id
        const key = `${arm} ${task}`
        const repeat = repeats.get(key) ?? 0
        repeats.set(key, repeat + 1)
        yield outcomeOf(episode, { arm, task, session, repeat }, await options.score(episode), options.costUsd(episode))
      }
      if (matched === 0)
        throw new HomegroundError('not-found', `no episode has a ${by} of any arm`, {
          hint:
            seen.size === 0
              ? 'the query found no episodes'
              : `${by} is ${[...seen]
                  .slice(0, 10)
                  .map(([value, count]) => `${value} (${count})`)
                  .join(', ')}`,
        })
    },
  }
}

/** The values of a field over episodes, with how often each occurs: what arms can be made of. */
export async function fieldValues(episodes: AsyncIterable<Episode>, by: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for await (const episode of episodes) {
    const value = fieldOf(episode, by)
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return counts
}

function fieldOf(episode: Episode, by: string): string | undefined {
  const [head, ...rest] = by.split('.')
  const name = rest.join('.')
  switch (head) {
    case 'tags':
      return Object.hasOwn(episode.tags, name) ? episode.tags[name] : undefined
    case 'source': {
      const value = Object.entries(episode.source).find(([key]) => key === name)?.[1]
      return value === undefined ? undefined : String(value)
    }
    case 'agent':
      return name === 'version' ? episode.agent?.version : name === 'name' ? episode.agent?.name : undefined
    case 'model':
      return episode.steps.find((step) => step.kind === 'model')?.model
    default:
      throw new HomegroundError('invalid-argument', `episodes have no field ${by} to make arms of`, {
        hint: 'use tags.NAME, source.repeat, source.arm, source.run, agent.version, agent.name or model',
      })
  }
}

function outcomeOf(
  episode: Episode,
  place: Pick<Outcome, 'arm' | 'task' | 'session' | 'repeat'>,
  scored: Pick<Outcome, 'score' | 'scores'>,
  costUsd: number | undefined,
): Outcome {
  const usages = episode.steps.flatMap((step) => (step.kind === 'model' && step.response ? [step.response.usage] : []))
  const sum = (each: (usage: (typeof usages)[number]) => number | undefined) => {
    const known = usages.map(each).filter((value) => value !== undefined)
    return known.length === 0 ? undefined : known.reduce((total, value) => total + value, 0)
  }
  const inputTokens = sum((usage) => usage.inputTokens)
  const outputTokens = sum((usage) => usage.outputTokens)
  return {
    ...place,
    ...scored,
    offTape: { count: 0 },
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(costUsd !== undefined && { costUsd }),
    durationMs: episode.durationMs,
    ...(episode.error && { error: episode.error }),
    stop: episode.error ? 'error' : 'done',
    episode: episode.id,
  }
}
