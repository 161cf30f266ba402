// Starts the crowd: `npm run model`. Ends with Ctrl-C.
import { startCrowd } from './crowd.ts'

const server = await startCrowd({ port: Number(process.env['PORT'] ?? 4101) })
process.stdout.write(`models crowd, thinker, guesser at ${server.url}\n`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close())
