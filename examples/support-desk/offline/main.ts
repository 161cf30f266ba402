// Starts the scripted models: `npm run model`. Ends with Ctrl-C.
import { deskModels, startDeskModels } from './models.ts'

const server = await startDeskModels({ port: Number(process.env['PORT'] ?? 4100) })
process.stdout.write(`models ${Object.keys(deskModels).join(', ')} at ${server.url}\n`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close())
