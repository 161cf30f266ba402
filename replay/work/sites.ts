// A worker's environments, open and ready to play in: found on this machine by their hash, the last few kept open.
import { HomegroundError } from '@homeground/sdk/trace'
import { openEnvironment } from '../environment/open.ts'
import type { Environment } from '../environment/types.ts'
import type { AnswerCacheSettings } from '../gateway/answer-cache.ts'
import type { RolloutDeps } from '../harness/types.ts'
import type { Prices } from '../rubric/cost.ts'
import { type LocalPlayer, localPlayer, type Played } from '../run/local-player.ts'
import type { Job } from './messages.ts'

export interface SitesOptions {
  /** Environment folders of this machine; a run's own path is looked at too. */
  folders: readonly string[]
  concurrency: number
  /** Of this machine: where answers of models are looked up and kept. @default none */
  cache?: AnswerCacheSettings
  prices: Prices
  deps: RolloutDeps
}

export interface Sites {
  /** @throws HomegroundError run-mismatch: the environment is not on this machine; and what a player throws */
  play(job: Job): Promise<Played>
  close(): Promise<void>
}

interface Site {
  environment: Environment
  player: LocalPlayer
}

interface Kept {
  opening: Promise<Site>
  playing: number
}

/** So many are kept open while nothing is played in them. */
const idleSites = 4

export function openSites(options: SitesOptions): Sites {
  const sites = new Map<string, Kept>()

  async function open(job: Job): Promise<Site> {
    const environment = await findEnvironment(job, options.folders)
    const { concurrency, prices, deps, cache } = options
    const recordings = job.arm.model === 'recorded'
    const settings = { harness: job.harness, concurrency, recordings, prices, deps, ...(cache === undefined ? {} : { cache }) }
    return { environment, player: localPlayer(environment, settings) }
  }

  async function close({ opening }: Kept): Promise<void> {
    const site = await opening
    await site.player.close()
    await site.environment.close()
  }

  return {
    async play(job) {
      const key = JSON.stringify([job.environment.hash, job.harness, job.arm.model === 'recorded'])
      const kept = sites.get(key) ?? { opening: open(job), playing: 0 }
      sites.delete(key)
      sites.set(key, kept)
      kept.playing += 1
      try {
        const { player } = await kept.opening
        return await player.play({ ...job, id: job.run }, job)
      } catch (error) {
        // One that could not be opened may be there the next time.
        await kept.opening.catch(() => sites.delete(key))
        throw error
      } finally {
        kept.playing -= 1
        const idle = [...sites].filter(([, site]) => site.playing === 0)
        for (const [old, site] of idle.slice(0, -idleSites)) {
          sites.delete(old)
          void close(site).catch(() => {})
        }
      }
    },
    async close() {
      await Promise.allSettled([...sites.values()].map(close))
    },
  }
}

async function findEnvironment({ environment: { name, hash, folder } }: Job, folders: readonly string[]): Promise<Environment> {
  const seen: string[] = []
  for (const place of [...folders, folder]) {
    let environment: Environment
    try {
      environment = await openEnvironment(place)
    } catch (error) {
      if (HomegroundError.is(error) && error.code === 'not-found') {
        seen.push(`${place} is not there`)
        continue
      }
      throw error
    }
    if (environment.file.hash === hash) return environment
    seen.push(`${place} holds ${environment.file.name} with hash ${environment.file.hash.slice(0, 12)}`)
    await environment.close()
  }
  throw new HomegroundError(
    'run-mismatch',
    `the environment ${name} with hash ${hash.slice(0, 12)} is not on this machine: ${seen.join('; ')}`,
    {
      hint: 'give the folder of the same build: homeground worker --env FOLDER',
    },
  )
}
