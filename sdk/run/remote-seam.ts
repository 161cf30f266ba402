// The product's end of a remote seam: everything that the process does runs inside the replay at HOMEGROUND_REPLAY_URL.
import type { Json } from '../trace/episode.ts'
import { type ErrorCode, errorCodes, HomegroundError } from '../trace/error.ts'
import type { SpanRecord } from '../trace/span.ts'
import type { Replay } from './context.ts'
import { errorOf } from './error-of.ts'
import { diag } from './host-telemetry.ts'
import { nodeCrypto } from './late-modules.ts'
import { modelHeader, remoteVariables, remoteVersion, spanToJson } from './remote-protocol.ts'
import type { Seam } from './seam.ts'
import { type Answer, SynchronousRequests } from './synchronous-requests.ts'
import { warnHost } from './warn-host.ts'

export interface RemoteReplay {
  replay: Replay
  /** Resolves when every span so far has arrived. */
  flush(): Promise<void>
}

/**
 * The replay that this process belongs to. In production (`NODE_ENV`) the variables are ignored unless `allowReplay`: whoever can set them could answer for
 * the model. @throws HomegroundError seam-not-found where nobody answers there
 */
export function connectRemoteSeam(environment: NodeJS.ProcessEnv, allowReplay: boolean): RemoteReplay | undefined {
  const url = environment[remoteVariables.url]
  if (url === undefined || url === '') return undefined
  if (environment['NODE_ENV'] === 'production' && !allowReplay) {
    warnHost(
      Remote,
      `${remoteVariables.url} is ignored where NODE_ENV is production: models and tools run for real. In a replay unset NODE_ENV, or pass allowReplay: true`,
    )
    return undefined
  }
  const remote = new Remote(url, environment[remoteVariables.key] ?? '')
  const { has, attributes, traceId } = remote.hello()
  const recorded = new SpanStream(remote)
  return {
    replay: {
      seam: seamOver(remote, new Set(has)),
      state: { attributes, ...(traceId === undefined ? {} : { traceId }), record: (span) => recorded.add(span) },
    },
    flush: () => recorded.flush(),
  }
}

function seamOver(remote: Remote, has: ReadonlySet<string>): Seam {
  const numberOf = (path: string): number => {
    const { value } = remote.now(path, {})
    return typeof value === 'number' ? value : 0
  }
  return {
    ...(has.has('model')
      ? {
          model: async ({ url, method, headers, body, api, agents, signal }) => {
            const asked = { url, method, headers: Object.fromEntries(headers), body, api, agents }
            const response = await remote.request('/model', asked, signal)
            if (response.headers.has(modelHeader)) return response
            throw fromRemote(await response.json())
          },
        }
      : {}),
    ...(has.has('tool')
      ? {
          tool: async (call) => {
            const { live, ...asked } = call
            const answer = await remote.ask('/tool', asked, live)
            if (typeof answer['offTape'] === 'string') call.offTape = answer['offTape']
            if (answer['error'] !== undefined) throw fromRemote(answer)
            return givenValue(answer)
          },
        }
      : {}),
    ...(has.has('io')
      ? {
          io: async ({ live, ...asked }) => {
            const answer = await remote.ask('/io', asked, live)
            if (answer['error'] !== undefined) throw fromRemote(answer)
            return givenValue(answer)
          },
        }
      : {}),
    ...(has.has('variant') ? { variant: (name: string, isText?: boolean) => givenValue(remote.now('/variant', { name, isText })) } : {}),
    ...(has.has('now') ? { now: () => numberOf('/now') } : {}),
    ...(has.has('random') ? { random: () => numberOf('/random') } : {}),
  }
}

class Remote {
  private readonly url: string
  private readonly key: string
  private readonly fetch = globalThis.fetch
  private synchronous: SynchronousRequests | undefined

  constructor(url: string, key: string) {
    this.url = url
    this.key = key
  }

  hello(): { has: string[]; attributes: Record<string, string | number | boolean>; traceId?: string } {
    let answer: Answer
    try {
      answer = this.now('/hello', { version: remoteVersion })
    } catch (error) {
      throw new HomegroundError('seam-not-found', `no replay answers at ${this.url}: ${errorOf(error).message}`, {
        hint: `Start the product from a run, or unset ${remoteVariables.url}.`,
      })
    }
    const has = Array.isArray(answer['has']) ? answer['has'].map(String) : []
    const attributes: Record<string, string | number | boolean> = {
      ...(typeof answer['attributes'] === 'object' ? answer['attributes'] : {}),
    }
    return { has, attributes, ...(typeof answer['traceId'] === 'string' ? { traceId: answer['traceId'] } : {}) }
  }

  request(path: string, body: object, signal?: AbortSignal): Promise<Response> {
    const headers = { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' }
    return this.fetch(this.url + path, { method: 'POST', headers, body: JSON.stringify(body), ...(signal === undefined ? {} : { signal }) })
  }

  /** Asks; where the seam wants the product's own function, runs it and brings what it gave. */
  async ask(path: string, body: object, live: () => Promise<Json | undefined>): Promise<Answer> {
    const id = nodeCrypto().randomUUID()
    const first = await this.read(path, { ...body, id })
    if (first['live'] !== true) return first
    try {
      return await this.read('/live', { id, value: await live() })
    } catch (error) {
      const { type, message } = errorOf(error)
      return await this.read('/live', { id, error: { name: type, message } })
    }
  }

  /** Asks and waits without giving the event loop a turn: `variant`, `now` and `random` return at once. */
  now(path: string, body: object): Answer {
    this.synchronous ??= new SynchronousRequests()
    const answer = this.synchronous.request(this.url + path, this.key, JSON.stringify(body))
    if (answer['error'] !== undefined) throw fromRemote(answer)
    return answer
  }

  private async read(path: string, body: object): Promise<Answer> {
    const answer: unknown = await (await this.request(path, body)).json()
    return typeof answer === 'object' && answer !== null ? { ...answer } : {}
  }
}

/** Spans on their way to the replay, in order, one request at a time. */
class SpanStream {
  private readonly remote: Remote
  private waiting: string[] = []
  private sending: Promise<void> | undefined

  constructor(remote: Remote) {
    this.remote = remote
  }

  add(span: SpanRecord): void {
    this.waiting.push(spanToJson(span))
    void this.flush()
  }

  flush(): Promise<void> {
    this.sending ??= this.send().finally(() => {
      this.sending = undefined
    })
    return this.sending
  }

  private async send(): Promise<void> {
    while (this.waiting.length > 0) {
      const spans = this.waiting.splice(0)
      try {
        await this.remote.request('/spans', { spans })
      } catch (error) {
        diag.warn(`homeground: the replay did not take ${spans.length} spans: ${errorOf(error).message}`)
      }
    }
  }
}

function givenValue(answer: Answer): Json | undefined {
  // The other end of this package wrote it with JSON.stringify.
  return answer['value'] as Json | undefined
}

function fromRemote(answer: unknown): Error {
  const given: unknown = typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'error') : undefined
  const fields: Answer = typeof given === 'object' && given !== null ? { ...given } : {}
  const message = String(fields['message'] ?? 'the replay failed')
  const code = fields['code']
  if (isErrorCode(code)) return new HomegroundError(code, message, { hint: String(fields['hint'] ?? '') })
  const error = new Error(message)
  error.name = String(fields['name'] ?? 'Error')
  return error
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && code in errorCodes
}
