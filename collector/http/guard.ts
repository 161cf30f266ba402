// Who may do what: a key's right and project where there are keys, this machine alone where there are none, and so many requests a second for each.
import type { Request } from 'express'
import type { Key, Right } from '../keys/key-file.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import { HttpProblem } from './problem.ts'

export interface Guard {
  /** The key that the request came with; undefined where none is needed. @throws HttpProblem 401, 403, 429 */
  admit(request: Request, right: Right): Key | undefined
}

/** Clients remembered for their rate; beyond it the longest unseen is forgotten. */
const clientsRemembered = 10_000

/** `requestsPerSecond`: of one key or one address; 0 is no limit. `now`: monotonic milliseconds. */
export function createGuard(ring: KeyRing, options: { requestsPerSecond: number; now?: () => number }): Guard {
  const now = options.now ?? (() => performance.now())
  const buckets = new Map<string, { tokens: number; at: number }>()

  function limit(client: string): void {
    const rate = options.requestsPerSecond
    if (rate === 0) return
    // A rate of less than one a second still lets one through.
    const most = Math.max(1, rate)
    const bucket = buckets.get(client) ?? { tokens: most, at: now() }
    buckets.delete(client)
    buckets.set(client, bucket)
    bucket.tokens = Math.min(most, bucket.tokens + ((now() - bucket.at) / 1_000) * rate)
    bucket.at = now()
    if (buckets.size > clientsRemembered)
      for (const [oldest] of buckets) {
        buckets.delete(oldest)
        break
      }
    if (bucket.tokens < 1)
      throw new HttpProblem(429, 'too many requests from this client', { retryAfterSeconds: Math.ceil((1 - bucket.tokens) / rate) })
    bucket.tokens -= 1
  }

  return {
    admit: (request, right) => {
      if (!ring.isOn()) {
        checkHost(request)
        limit(request.socket.remoteAddress ?? '')
        return undefined
      }
      const text = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
      const key = text === undefined ? undefined : ring.find(text)
      if (key === undefined) {
        limit(request.socket.remoteAddress ?? '')
        throw new HttpProblem(401, 'this collector needs a key: Authorization: Bearer KEY')
      }
      limit(key.id)
      if (!key.rights.includes(right)) throw new HttpProblem(403, `the key ${key.id} has no right to ${right}`)
      return key
    },
  }
}

/** True where the key is good for the project. */
export function opens(key: Key | undefined, project: string): boolean {
  return key === undefined || key.project === '*' || key.project === project
}

/** Without keys the address is the only guard: a web page that has bent a name of its own to 127.0.0.1 sends that name as Host. */
function checkHost(request: Request): void {
  const host = request.headers.host?.replace(/:\d+$/, '') ?? ''
  if (host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)) return
  throw new HttpProblem(403, 'without keys this collector answers to the names of this machine alone')
}
