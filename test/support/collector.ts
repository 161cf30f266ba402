// A real collector on a real store, over real HTTP.
import type { Episode } from '@homeground/sdk/trace'
import { type Collector, type CollectorOptions, directQueue, type Log, startCollector } from '../../collector/index.ts'
import type { Store } from '../../store/index.ts'

/** Log lines as they came. */
export interface MemoryLog extends Log {
  readonly lines: { level: string; fields: object; message: string }[]
}

export function memoryLog(): MemoryLog {
  const lines: MemoryLog['lines'] = []
  const at = (level: string) => (fields: object, message: string) => void lines.push({ level, fields, message })
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), fatal: at('fatal') }
}

/** Listens on a free port; the caller closes it. */
export function collectorOn(store: Store, options: Partial<CollectorOptions> = {}): Promise<Collector> {
  return startCollector({ queue: directQueue(store), log: memoryLog(), port: 0, ...options })
}

/** The only episode of project `shop`. @throws Error where there is another number of them; `of` says whose they should be */
export async function onlyEpisode(store: Pick<Store, 'episodes'>, of: string): Promise<Episode> {
  const episodes: Episode[] = []
  for await (const episode of store.episodes({ project: 'shop' })) episodes.push(episode)
  const [only] = episodes
  if (only === undefined || episodes.length > 1) throw new Error(`${episodes.length} episodes of ${of}`)
  return only
}
