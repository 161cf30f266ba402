// Serves the desk: `npm start`. PORT says where; Ctrl-C sends what is still waiting for the collector and ends.
import { answer, hg, sessions, shop } from './desk.ts'
import { createServer } from './server.ts'

const server = createServer({ hg, shop, sessions, answer }).listen(Number(process.env['PORT'] ?? 4000), '127.0.0.1', (error) => {
  if (error !== undefined) {
    process.stderr.write(`support-desk: ${error.message}\n`)
    process.exitCode = 1
    return
  }
  const address = server.address()
  process.stdout.write(`support desk at http://127.0.0.1:${typeof address === 'object' ? address?.port : address}\n`)
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close()
    server.closeAllConnections()
    void hg.shutdown()
  })
}
