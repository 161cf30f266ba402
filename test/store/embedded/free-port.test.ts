import net from 'node:net'
import { describe, expect, test } from 'vitest'
import { freePort } from '../../../store/embedded/free-port.ts'

describe('a free port', () => {
  test('lies below the ports of outgoing connections: a server that was killed finds it free again', async () => {
    for (let n = 0; n < 20; n += 1) {
      const port = await freePort()
      expect(port).toBeGreaterThanOrEqual(20_000)
      expect(port).toBeLessThan(32_768)
    }
  })

  test('can be listened on', async () => {
    const port = await freePort()
    const server = net.createServer()
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
    await new Promise((resolve) => server.close(resolve))
  })
})
