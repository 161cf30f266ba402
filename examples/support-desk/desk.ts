// The desk put together. `main.ts` serves it over HTTP; a replay imports `answer` from here and needs no server.
import { homeground } from '@homeground/sdk'
import OpenAI from 'openai'
import { createAgent } from './agent.ts'
import { createSessions } from './sessions.ts'
import { createShop } from './shop.ts'
import { shopData } from './traffic/sessions.ts'

/** Sends to HOMEGROUND_ENDPOINT, by default the collector of `homeground up`. */
export const hg = homeground({ project: process.env['DESK_PROJECT'] ?? 'support-desk' })

/** Reads OPENAI_BASE_URL and OPENAI_API_KEY; the scripted models and most local servers want no key. */
const client = hg.wrap(new OpenAI({ apiKey: process.env['OPENAI_API_KEY'] ?? 'none' }))

const today = () => process.env['DESK_TODAY'] ?? new Date().toISOString().slice(0, 10)
export const shop = createShop(shopData(today()), { today })
export const sessions = createSessions()

/** The agent function: what `homeground env build --module` names. */
export const answer = createAgent({ hg, client, model: process.env['OPENAI_MODEL'] ?? 'desk-expert', shop, sessions })
