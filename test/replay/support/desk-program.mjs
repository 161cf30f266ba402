// The support desk as a program: a question on stdin, the answer on stdout. In a replay its model, tools and reads come over the remote seam.
import { homeground } from '@homeground/sdk'
import OpenAI from 'openai'
import { createAgent } from '../../../examples/support-desk/dist/agent.js'
import { createSessions } from '../../../examples/support-desk/dist/sessions.js'
import { createShop } from '../../../examples/support-desk/dist/shop.js'

const hg = homeground({ project: 'support-desk' })
const client = hg.wrap(new OpenAI())
// An empty shop: whatever the answers say, they say it from the tape.
const shop = createShop({ customers: [], orders: [] }, { today: () => '1999-01-01' })
const answer = createAgent({ hg, client, model: 'desk-expert', shop, sessions: createSessions() })

let text = ''
for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
console.log(JSON.stringify(await answer(JSON.parse(text))))
await hg.flush()
