// The options of `env build` that choose among the episodes found: without near-duplicates, so many, as many of each kind.
import { type Episode, HomegroundError, type Json } from '@homeground/sdk/trace'
import type { Command } from 'commander'
import type { BuildOptions } from '../replay/environment/build.ts'
import { type SelectionSettings, selectEpisodes } from '../replay/environment/select.ts'
import { stratumNames } from '../replay/environment/strata.ts'
import { countOf, shareOf } from './option-values.ts'

export interface SelectionOptions {
  sample?: number
  stratify?: string[]
  dedupe?: number | true
  unit?: BuildOptions['unit']
}

export function addSelectionOptions(build: Command): Command {
  return build
    .option('--sample <N>', 'so many of them (sessions with --unit session), drawn by a hash of their ids', countOf)
    .option('--stratify <BY...>', `as many of each kind: ${stratumNames}; several make kinds together`)
    .option('--dedupe [SHARE]', 'leave out what begins like an earlier one: first user turns with 0.9 of their word triples alike', shareOf)
}

export interface Selected {
  episodes: AsyncIterable<Episode>
  selection: Pick<BuildOptions, 'selection'>
  /** What env.json says of it. */
  query: { [key: string]: Json }
}

/** `read` gives the episodes anew each time. Without any of the options they are taken as they come, and read once. */
export async function selected(read: () => AsyncIterable<Episode>, options: SelectionOptions): Promise<Selected> {
  const { sample, stratify, dedupe } = options
  if (stratify !== undefined && sample === undefined)
    throw new HomegroundError('invalid-argument', '--stratify needs --sample N', { hint: 'say how many episodes there are to be in all' })
  if (sample === undefined && dedupe === undefined) return { episodes: read(), selection: {}, query: {} }
  const settings: SelectionSettings = {
    ...(dedupe === undefined ? {} : { dedupe: dedupe === true ? 0.9 : dedupe }),
    ...(sample === undefined ? {} : { sample }),
    ...(stratify === undefined ? {} : { stratify: stratify.flatMap((names) => names.split(',')).filter(Boolean) }),
    by: options.unit === 'session' ? 'session' : 'episode',
  }
  const { episodes, selection } = await selectEpisodes(read, settings)
  return { episodes, selection: { selection }, query: { selection: JSON.parse(JSON.stringify(settings)) } }
}
