// Which of many episodes become tasks: near-duplicates of an earlier one left out, then so many of each stratum. Reads them twice and holds numbers, ids and strata, never episodes.
import { asArray, asObject, asText, type Episode, sha256Hex } from '@homeground/sdk/trace'
import { conversationOf } from './conversation.ts'
import { SeenTexts } from './min-hash.ts'
import { stratumOf } from './strata.ts'
import { groupOf } from './tasks.ts'

export interface SelectionSettings {
  /** Leaves out an episode whose first user turn shares so much of its word triples with that of an earlier one: 0.9, say. */
  dedupe?: number
  /** So many episodes in all (sessions with unit `session`): as equal a number of each stratum as there are. */
  sample?: number
  /** What makes a stratum: stratumOf's names, together. @default one stratum */
  stratify?: readonly string[]
  /** What is taken or left as one. @default episode */
  by?: 'episode' | 'session'
}

export interface Selection {
  settings: SelectionSettings
  /** Episodes, or sessions. */
  seen: number
  nearDuplicates: number
  kept: number
  /** By name; without the near-duplicates. */
  strata: { name: string; seen: number; kept: number }[]
}

/**
 * `read` gives the episodes anew each time, in the same order. Which ones a stratum keeps is decided by a hash of their ids: the same data gives the same selection.
 * @throws HomegroundError invalid-argument: a stratum that does not exist
 */
export async function selectEpisodes(
  read: () => AsyncIterable<Episode>,
  settings: SelectionSettings,
): Promise<{ selection: Selection; episodes: AsyncIterable<Episode> }> {
  const keys = (settings.stratify ?? []).map((name) => ({ name, of: stratumOf(name) }))
  const idOf = settings.by === 'session' ? (episode: Episode) => groupOf(episode, 'session') : (episode: Episode) => episode.id
  const texts = settings.dedupe === undefined ? undefined : new SeenTexts(settings.dedupe)
  const strata = new Map<string, string[]>()
  const seen = new Set<string>()
  let nearDuplicates = 0
  for await (const episode of read()) {
    const id = idOf(episode)
    if (seen.has(id)) continue
    seen.add(id)
    const text = firstUserTurn(episode)
    if (texts !== undefined && text !== '' && texts.has(text)) {
      nearDuplicates += 1
      continue
    }
    const stratum = keys.map(({ name, of }) => `${name}=${of(episode)}`).join(', ')
    const ids = strata.get(stratum)
    if (ids) ids.push(id)
    else strata.set(stratum, [id])
  }
  const names = [...strata.keys()].sort()
  const shares = equalShares(
    names.map((name) => strata.get(name)?.length ?? 0),
    settings.sample ?? Number.POSITIVE_INFINITY,
  )
  const kept = new Set<string>()
  for (const [index, name] of names.entries()) {
    for (const id of drawn(strata.get(name) ?? [], shares[index] ?? 0)) kept.add(id)
  }
  const selection = {
    settings,
    seen: seen.size,
    nearDuplicates,
    kept: kept.size,
    strata: names.map((name, index) => ({ name: name || 'all', seen: strata.get(name)?.length ?? 0, kept: shares[index] ?? 0 })),
  }
  async function* episodes(): AsyncGenerator<Episode> {
    for await (const episode of read()) if (kept.has(idOf(episode))) yield episode
  }
  return { selection, episodes: episodes() }
}

/** The selection in words, for the card and the terminal. */
export function selectionLines({ settings, seen, nearDuplicates, kept, strata }: Selection): string[] {
  const what = settings.by === 'session' ? 'sessions' : 'episodes'
  const share = Math.round((settings.dedupe ?? 0) * 100)
  const lines = [`Selected: ${kept} of ${seen} ${what}`]
  if (settings.dedupe !== undefined)
    lines.push(
      `Near-duplicates left out: ${nearDuplicates} (first user turns that share ${share} % of their word triples with an earlier one)`,
    )
  if (settings.stratify !== undefined)
    lines.push(`Strata: ${strata.map((each) => `${each.name}: ${each.kept} of ${each.seen}`).join('; ')}`)
  return lines
}

/** `total` over strata of these sizes: the small ones whole, the rest in equal parts; what is left over goes to the first. */
function equalShares(sizes: readonly number[], total: number): number[] {
  const shares = sizes.map(() => 0)
  let left = Math.min(
    total,
    sizes.reduce((sum, size) => sum + size, 0),
  )
  while (left > 0) {
    const open = sizes.flatMap((size, index) => (size > (shares[index] ?? 0) ? [index] : []))
    const each = Math.max(1, Math.floor(left / open.length))
    for (const index of open) {
      const more = Math.min(each, (sizes[index] ?? 0) - (shares[index] ?? 0), left)
      shares[index] = (shares[index] ?? 0) + more
      left -= more
    }
  }
  return shares
}

/** The same ones whatever else is there, as long as they are among the first by this order. */
function drawn(ids: readonly string[], count: number): readonly string[] {
  if (count >= ids.length) return ids
  const ranked = ids.map((id) => ({ id, rank: sha256Hex(`sample\n${id}`) }))
  return ranked
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, count)
    .map(({ id }) => id)
}

/** What the user asked first: of the conversation, else the agent's own input. */
function firstUserTurn(episode: Episode): string {
  const said = (conversationOf(episode)?.gaps[0] ?? [])
    .filter(({ role }) => role === 'user')
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.content] : [])))
  return said.length > 0 ? said.join('\n') : textsIn(episode.input).join('\n')
}

function textsIn(value: Episode['input']): string[] {
  const text = asText(value)
  if (text !== undefined) return [text]
  const members = Array.isArray(value) ? asArray(value) : Object.values(asObject(value) ?? {})
  return members.flatMap(textsIn)
}
