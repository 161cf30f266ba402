// The support desk of examples/, as its own users run it, but for where its spans go: a replay's tests read them from memory.
import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import OpenAI from 'openai'
import { createAgent } from '../../../examples/support-desk/agent.ts'
import { createSessions } from '../../../examples/support-desk/sessions.ts'
import { createShop } from '../../../examples/support-desk/shop.ts'
import { shopData } from '../../../examples/support-desk/traffic/sessions.ts'

export const exporter = new MemoryExporter()
export const hg = homeground({ project: 'support-desk', exporter })
export const client = hg.wrap(new OpenAI({ apiKey: 'none', baseURL: 'http://127.0.0.1:9/v1' }))

const today = () => '2026-03-02'
export const shop = createShop(shopData(today()), { today })
export const sessions = createSessions()
export const answer = createAgent({ hg, client, model: 'desk-expert', shop, sessions })
