// A program with the SDK in it, in its own process: the remote seam takes hold of it.
import { agent, hg } from './threaded-product.mjs'

let text = ''
for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
console.log(JSON.stringify(await agent(JSON.parse(text))))
await hg.flush()
