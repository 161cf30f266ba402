// What a caller waits for: `node latency.mjs UPSTREAM_URL SINK_URL`. Bare and wrapped calls alternate over real sockets with the export on, and the time is summed
// that lies between the caller and the fetch underneath: before that is entered, after it has given its promise, and between its response and the caller's
// having it. A bare call has these times too (timers, promises, whatever the machine does in between): what is more is ours. Prints one line of JSON.
import { homeground } from '../../sdk/dist/index.js'

const [upstream, sink] = process.argv.slice(2)
const hg = homeground({ project: 'bench', endpoint: sink })
const url = `${upstream}/v1/chat/completions`
const body = JSON.stringify({
  model: 'gpt-4o',
  messages: [
    { role: 'system', content: 'You are a support agent. '.repeat(40) },
    { role: 'user', content: 'where is my order? '.repeat(10) },
  ],
})
const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } }

/** Of the call under way: when the inner fetch was entered and left, and when its response was there. */
let entered = 0
let left = 0
let answered = 0
const timed = async (...given) => {
  entered = performance.now()
  const promise = fetch(...given)
  left = performance.now()
  const response = await promise
  answered = performance.now()
  return response
}
const bare = { fetch: timed }
const wrapped = hg.wrap({ fetch: timed })

async function call(client) {
  const start = performance.now()
  const promise = client.fetch(url, init)
  const returned = performance.now()
  const response = await promise
  const had = performance.now()
  await response.json()
  return { whole: performance.now() - start, inside: entered - start + (returned - left) + (had - answered) }
}

const count = 2000
const differences = []
const inside = []
const insideBare = []
for (let index = -300; index < count; index += 1) {
  const first = index % 2 === 0
  const a = await call(first ? bare : wrapped)
  const b = await call(first ? wrapped : bare)
  if (index < 0) continue
  const [without, withUs] = first ? [a, b] : [b, a]
  differences.push(withUs.whole - without.whole)
  inside.push(withUs.inside)
  insideBare.push(without.inside)
}
await hg.shutdown()
const at = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]
const rounded = (value) => Math.round(value * 10_000) / 10_000
process.stdout.write(
  `${JSON.stringify({
    addedMedianMs: rounded(at(differences, 0.5)),
    insideMedianMs: rounded(at(inside, 0.5)),
    insideP99Ms: rounded(at(inside, 0.99)),
    bareInsideP99Ms: rounded(at(insideBare, 0.99)),
  })}\n`,
)
process.exit(0)
