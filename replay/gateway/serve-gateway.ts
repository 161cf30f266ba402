// The gateway over HTTP, for programs in any language: model calls in the three dialects, plain and streamed, and tools by plain POST or MCP. On loopback, one rollout a server, each with its own key.
import { randomBytes } from 'node:crypto'
import http from 'node:http'
import { asObject, dialectForPath, errorText, type Json, parseJson } from '@homeground/sdk/trace'
import { errorBody, httpAnswer } from './http-answer.ts'
import type { GatewayAnswer, GatewayRequest } from './types.ts'

export interface GatewayServer {
  /** Without a path: `http://127.0.0.1:PORT`. */
  url: string
  key: string
  close(): Promise<void>
}

export interface GatewayServerOptions {
  model(request: GatewayRequest): Promise<GatewayAnswer>
  /** Answers `POST /tools/NAME`, `/mcp` and whatever else is no model call; `undefined` = there is no such path. */
  other?(request: OtherRequest): Promise<OtherAnswer | undefined>
  /** What `GET /v1/models` lists. */
  models: readonly string[]
}

export interface OtherRequest {
  method: string
  path: string
  body: Json | undefined
}

export interface OtherAnswer {
  status: number
  body: Json
}

/** Bodies beyond it are refused, as elsewhere. */
const maxBodyBytes = 32 * 1024 * 1024

export async function serveGateway(options: GatewayServerOptions): Promise<GatewayServer> {
  const key = `hg-${randomBytes(24).toString('hex')}`
  const server = http.createServer((request, response) => {
    serve(request, response, key, options).catch((error: unknown) => {
      if (response.headersSent) response.destroy()
      else send(response, 500, errorBody('openai.chat', 'gateway', errorText(error)))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    key,
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

async function serve(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  key: string,
  options: GatewayServerOptions,
): Promise<void> {
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  const dialect = request.method === 'POST' ? dialectForPath(path) : undefined
  const api = dialect?.api ?? 'openai.chat'
  const given = request.headers.authorization?.replace(/^Bearer /i, '') ?? request.headers['x-api-key']
  if (given !== key) return send(response, 401, errorBody(api, 'authentication_error', 'the key of another rollout, or none'))
  const text = await bodyOf(request)
  if (text === undefined) return send(response, 413, errorBody(api, 'request_too_large', `the body is over ${maxBodyBytes} bytes`))
  const body = parseJson(text)
  if (dialect === undefined) {
    if (request.method === 'GET' && /\/models$/.test(path))
      return send(response, 200, { object: 'list', data: options.models.map((id) => ({ id, object: 'model' })) })
    const answer = await options.other?.({ method: request.method ?? 'GET', path, body })
    return answer === undefined
      ? send(response, 404, errorBody(api, 'not_found', `the gateway has no ${request.method} ${path}`))
      : send(response, answer.status, answer.body)
  }
  const fields = asObject(body)
  if (fields === undefined) return send(response, 400, errorBody(api, 'invalid_request_error', 'the body is no JSON object'))
  const gone = new AbortController()
  response.once('close', () => gone.abort(new Error('the client went away')))
  const asked = { api: dialect.api, body: fields, signal: gone.signal }
  const answer = httpAnswer(asked, await options.model(asked))
  response.writeHead(answer.status, answer.headers).end(answer.body)
}

/** `undefined` where it is too large. */
async function bodyOf(request: http.IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request) {
    const bytes: Buffer = part
    size += bytes.length
    if (size <= maxBodyBytes) parts.push(bytes)
  }
  return size > maxBodyBytes ? undefined : Buffer.concat(parts).toString('utf8')
}

function send(response: http.ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' }).end(JSON.stringify(body))
}
