// The replay's end of a remote seam: serves one rollout of a product that runs in its own process, on a loopback port.
import { randomBytes } from 'node:crypto'
import http from 'node:http'
import type { Json } from '../trace/episode.ts'
import { HomegroundError } from '../trace/error.ts'
import type { Replay } from './context.ts'
import { errorOf } from './error-of.ts'
import { modelHeader, type RemoteError, remoteVariables, remoteVersion, spanFromJson } from './remote-protocol.ts'

/** A seam that products in other processes reach over HTTP. */
export interface RemoteSeam {
  /** Environment variables for the product's process. */
  readonly environment: Record<string, string>
  /** Resolves when the product's copy of the SDK has answered: without it the product must not go on (error `seam-not-found`). */
  readonly greeted: Promise<void>
  close(): Promise<void>
}

interface Body {
  [key: string]: unknown
}

/** Every product that is started with `environment` runs inside this replay. One rollout a server. */
export async function serveSeam(replay: Replay): Promise<RemoteSeam> {
  const key = randomBytes(24).toString('hex')
  let greet: () => void = () => undefined
  const greeted = new Promise<void>((resolve) => {
    greet = resolve
  })
  const lives = new LiveCalls()

  const routes: Record<string, (body: Body) => Promise<unknown>> = {
    '/hello': async (body) => {
      if (body['version'] !== remoteVersion)
        throw new Error(`the product's SDK speaks replay version ${body['version']}, this one ${remoteVersion}`)
      greet()
      const { seam, state } = replay
      const has = { model: seam.model, tool: seam.tool, io: seam.io, variant: seam.variant, now: seam.now, random: seam.random }
      return {
        has: Object.keys(has).filter((name) => Reflect.get(has, name) !== undefined),
        attributes: state.attributes,
        traceId: state.traceId,
      }
    },
    '/tool': (body) =>
      lives.run(body, async (live) => {
        const call = {
          name: text(body['name']),
          arguments: json(body['arguments']),
          callId: optionalText(body['callId']),
          effect: effectOf(body['effect']),
          agents: texts(body['agents']),
          live,
        }
        try {
          return { value: await replay.seam.tool?.(call) }
        } finally {
          const offTape: unknown = Reflect.get(call, 'offTape')
          if (offTape !== undefined) lives.note(body, { offTape })
        }
      }),
    '/io': (body) =>
      lives.run(body, async (live) => ({
        value: await replay.seam.io?.({
          name: text(body['name']),
          key: body['key'] === undefined ? undefined : json(body['key']),
          agents: texts(body['agents']),
          live,
        }),
      })),
    '/live': (body) => lives.answer(body),
    '/variant': async (body) => ({ value: replay.seam.variant?.(text(body['name']), body['isText'] !== false) }),
    '/now': async () => ({ value: replay.seam.now?.() }),
    '/random': async () => ({ value: replay.seam.random?.() }),
    '/spans': async (body) => {
      for (const span of texts(body['spans'])) replay.state.record(spanFromJson(span))
      return {}
    },
  }

  const server = http.createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy())
  })

  const answer = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    if (request.headers.authorization !== `Bearer ${key}`) return send(response, 401, { error: { name: 'Error', message: 'wrong key' } })
    const body: Body = JSON.parse(Buffer.concat(parts).toString('utf8'))
    try {
      if (replay.signal?.aborted === true && request.url !== '/spans') throw replay.signal.reason
      if (request.url === '/model') return await sendModel(replay, body, response)
      const route = routes[request.url ?? '']
      send(response, route === undefined ? 404 : 200, await route?.(body))
    } catch (error) {
      send(response, 500, { error: remoteError(error), ...lives.noted(body) })
    }
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  return {
    environment: { [remoteVariables.url]: url, [remoteVariables.key]: key },
    greeted,
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** Calls whose seam asked for the product's own function: the product runs it and comes back with what it gave. */
class LiveCalls {
  private readonly waiting = new Map<string, { settle: (body: Body) => void; outcome: Promise<unknown> }>()
  private readonly notes = new Map<unknown, object>()

  /** Answers with the call's outcome, or with `{ live: true }` as soon as the seam asks for the function. */
  async run(body: Body, work: (live: () => Promise<Json | undefined>) => Promise<object>): Promise<unknown> {
    const id = text(body['id'])
    let ask: (value: { live: true }) => void = () => undefined
    const asked = new Promise<{ live: true }>((resolve) => {
      ask = resolve
    })
    let settle: (given: Body) => void = () => undefined
    const given = new Promise<Body>((resolve) => {
      settle = resolve
    })
    const live = async (): Promise<Json | undefined> => {
      ask({ live: true })
      const { value, error } = await given
      if (error !== undefined) throw errorFrom(error)
      return value === undefined ? undefined : json(value)
    }
    const outcome = work(live).then((result) => ({ ...result, ...this.noted(body) }))
    outcome.catch(() => undefined)
    this.waiting.set(id, { settle, outcome })
    const first = await Promise.race([outcome, asked])
    if (!('live' in first)) this.waiting.delete(id)
    return first
  }

  async answer(body: Body): Promise<unknown> {
    const id = text(body['id'])
    const call = this.waiting.get(id)
    if (call === undefined) throw new Error(`no call ${id} waits for its function`)
    this.waiting.delete(id)
    call.settle(body)
    return await call.outcome
  }

  note(body: Body, note: object): void {
    this.notes.set(body['id'], note)
  }

  noted(body: Body): object {
    const note = this.notes.get(body['id']) ?? {}
    this.notes.delete(body['id'])
    return note
  }
}

async function sendModel(replay: Replay, body: Body, response: http.ServerResponse): Promise<void> {
  const live = async (): Promise<Response> => {
    throw new HomegroundError('invalid-argument', 'a model call of a product in its own process cannot be sent live by the replay', {
      hint: 'Give the arm a url: the replay sends the call itself.',
    })
  }
  const headers = new Headers(Object.entries(body['headers'] ?? {}))
  const answer = await replay.seam.model?.({
    url: text(body['url']),
    method: text(body['method']),
    headers,
    body: optionalText(body['body']),
    api: optionalText(body['api']),
    signal: replay.signal,
    agents: texts(body['agents']),
    live,
  })
  if (answer === undefined) return send(response, 404, {})
  const kept = [...answer.headers].filter(
    ([name]) => !['content-encoding', 'content-length', 'transfer-encoding', 'connection'].includes(name),
  )
  response.writeHead(answer.status, { ...Object.fromEntries(kept), [modelHeader]: '1' })
  for await (const chunk of answer.body ?? []) response.write(chunk)
  response.end()
}

function send(response: http.ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}))
}

function remoteError(error: unknown): RemoteError {
  const { type, message } = errorOf(error)
  return HomegroundError.is(error) ? { name: type, message, code: error.code, hint: error.hint } : { name: type, message }
}

function errorFrom(value: unknown): Error {
  const fields: Body = typeof value === 'object' && value !== null ? { ...value } : {}
  const error = new Error(text(fields['message']))
  error.name = text(fields['name']) || 'Error'
  return error
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function effectOf(value: unknown): 'none' | 'read' | 'write' | 'unknown' {
  return value === 'none' || value === 'read' || value === 'write' ? value : 'unknown'
}

/** The other end of this package wrote it with JSON.stringify. */
function json(value: unknown): Json {
  return value as Json
}
