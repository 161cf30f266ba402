// A model server for tests: real HTTP on a loopback port, answers from a script or a policy function, plain and streamed, in the dialect that it is asked in.
// It is not a proxy and knows no model.
import http from 'node:http'
import type { Dialect } from '../trace/dialects/dialect.ts'
import { dialectForPath } from '../trace/dialects/index.ts'
import { asObject, parseJson } from '../trace/json.ts'
import type { AnswerStyle } from './chat-answer.ts'
import { embeddingsBody } from './embeddings.ts'
import { sendAnswer, sendJson } from './send-answer.ts'
import type { ModelAnswer, ModelServer, ModelServerOptions, RecordedRequest } from './types.ts'
import { wireAnswer, wireError } from './wire-answer.ts'

/** Clients try again what is no fault of theirs (500 and more): the test would wait for nothing. */
const testsFault = 400

/**
 * Starts it on a free port of 127.0.0.1. Give `policy` (asked with every request) or `script` (answers in order); without either it says "ok".
 * Point an OpenAI client at `url` (`new OpenAI({ baseURL: server.url, apiKey: 'test' })`), an Anthropic client at `origin`, and call `close()` at the end.
 */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const requests: RecordedRequest[] = []
  const style: AnswerStyle = { answers: 0, calls: 0 }
  const answer = answersOf(options)
  const serve = async (message: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    const { method = 'GET', headers } = message
    const path = decodeURIComponent((message.url ?? '/').split('?')[0] ?? '/')
    const text = await readText(message)
    const body = asObject(parseJson(text)) ?? {}
    const dialect = dialectForPath(path)
    if (method === 'GET' && path.endsWith('/models')) {
      sendJson(response, 200, { object: 'list', data: [{ id: 'test-model', object: 'model', created: 0, owned_by: 'test' }] })
    } else if (method === 'POST' && path.endsWith('/embeddings')) sendJson(response, 200, embeddingsBody(body))
    else if (method !== 'POST' || dialect === undefined) {
      sendJson(response, 404, { error: { message: `no such route: ${method} ${path}`, type: 'not_found' } })
    } else {
      const { messages } = dialect.readRequest(body)
      const request: RecordedRequest = { method, path, headers, text, body, api: dialect.api, messages }
      requests.push(request)
      await respond(response, dialect, request, await answer(request), options, style)
    }
  }
  const server = http.createServer((message, response) => {
    void serve(message, response).catch((error: unknown) => {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
      if (response.headersSent) response.destroy()
      else sendJson(response, testsFault, { error: { message: `the model server's policy failed: ${text}`, type: 'policy_failed' } })
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : undefined}`
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  return { url: `${origin}/v1`, origin, requests, close, [Symbol.asyncDispose]: close }
}

async function respond(
  response: http.ServerResponse,
  dialect: Dialect,
  request: RecordedRequest,
  given: ModelAnswer,
  options: ModelServerOptions,
  style: AnswerStyle,
): Promise<void> {
  if (typeof given === 'object' && 'status' in given) {
    sendJson(response, given.status, given.body, given.headers)
    return
  }
  if (typeof given === 'object' && 'error' in given) {
    const { retryAfterSeconds } = given
    const headers: Record<string, string> = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
    sendJson(response, given.error, wireError(dialect, given), headers)
    return
  }
  const timed = typeof given === 'object' && 'answer' in given ? given : { answer: given }
  const wire = wireAnswer(dialect, timed.answer, request, style)
  const stream = request.body['stream'] === true || /:streamRawPredict$/.test(request.path)
  const { delayMs, chunkDelayMs } = options
  await sendAnswer(response, wire, stream, {
    ...(delayMs === undefined ? {} : { delayMs }),
    ...(chunkDelayMs === undefined ? {} : { chunkDelayMs }),
    ...timed,
  })
}

function answersOf({ policy, script }: ModelServerOptions): (request: RecordedRequest) => Promise<ModelAnswer> {
  let scripted = 0
  return async (request) => {
    if (policy !== undefined) return await policy(request)
    if (script === undefined) return 'ok'
    const next = script[scripted++]
    if (next !== undefined) return next
    const message = `the script of the model server has ${script.length} answers and this is request ${scripted}`
    return { status: testsFault, body: { error: { message, type: 'script_ended' } } }
  }
}

async function readText(message: http.IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of message) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}
