// Every format that `homeground import` knows.
import { episode } from './episode.ts'
import { openaiMessages } from './openai-messages.ts'
import { tauBench } from './tau-bench.ts'
import type { Importer } from './types.ts'

/** In the order that `--help` lists them. */
export const importers: readonly Importer[] = [episode, openaiMessages, tauBench]
