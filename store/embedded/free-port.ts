// A port of this machine's loopback for a server that is bound to it later, and again after it was killed. Taken from below the ranges that systems give
// to outgoing connections (Linux: 32768 and up, others: 49152 and up): a port out of those is soon some connection's own end, and the server can't have it back.
import { randomInt } from 'node:crypto'
import net from 'node:net'

const lowest = 20_000
const firstOfConnections = 32_768
const attempts = 100

export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = randomInt(lowest, firstOfConnections)
    if (await bind(port).catch(() => null)) return port
  }
  return bind(0)
}

/** Binds and lets go again; resolves with the port. */
function bind(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
