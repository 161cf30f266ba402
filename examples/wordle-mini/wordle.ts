// The game put together; a replay imports `play` from here.
import { homeground } from '@homeground/sdk'
import OpenAI from 'openai'
import { createPlayer } from './player.ts'

const hg = homeground({ project: 'wordle-mini' })
const client = hg.wrap(new OpenAI({ apiKey: process.env['OPENAI_API_KEY'] ?? 'none' }))

/** The agent function that env/env.json names. */
export const play = createPlayer({ hg, client, model: process.env['OPENAI_MODEL'] ?? 'crowd' })
