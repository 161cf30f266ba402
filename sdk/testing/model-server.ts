// A model server for tests: real HTTP on a loopback port, answers from a script or a policy function, plain and streamed. It is not a proxy and knows no model.
import http from 'node:http'
import { type ChatStyle, chatAnswerBody, chatAnswerEvents } from './chat-answer.ts'
import type { ModelAnswer, ModelServer, ModelServerOptions, RecordedRequest } from './types.ts'

/**
 * Starts it on a free port of 127.0.0.1. Give `policy` (asked with every request) or `script` (answers in order); without either it says "ok".
 * Point the client at `url` (`new OpenAI({ baseURL: server.url, apiKey: 'test' })`) and call `close()` at the end.
 */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const requests: RecordedRequest[] = []
  const style: ChatStyle = { answers: 0, calls: 0 }
  let scripted = 0
  const answer = async (request: RecordedRequest): Promise<ModelAnswer> => {
    if (options.policy !== undefined) return await options.policy(request)
    if (options.script === undefined) return 'ok'
    const next = options.script[scripted++]
    return (
      next ?? {
        status: 500,
        body: {
          error: {
            message: `the script of the model server has ${options.script.length} answers and this is request ${scripted}`,
            type: 'script_ended',
          },
        },
      }
    )
  }

  const server = http.createServer((message, response) => {
    void serve(message, response).catch((error: unknown) => {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
      if (!response.headersSent)
        sendJson(response, 500, { error: { message: `the model server's policy failed: ${text}`, type: 'policy_failed' } })
      else response.destroy()
    })
  })

  const serve = async (message: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    const path = (message.url ?? '/').split('?')[0] ?? '/'
    const text = await readText(message)
    if (message.method === 'GET' && path.endsWith('/models')) {
      sendJson(response, 200, { object: 'list', data: [{ id: 'test-model', object: 'model', created: 0, owned_by: 'test' }] })
      return
    }
    if (message.method !== 'POST' || !path.endsWith('/chat/completions')) {
      sendJson(response, 404, { error: { message: `no such route: ${message.method} ${path}`, type: 'not_found' } })
      return
    }
    const request: RecordedRequest = { method: message.method, path, headers: message.headers, text, body: parseObject(text) }
    requests.push(request)
    const given = await answer(request)
    if (typeof given !== 'string' && 'status' in given) {
      sendJson(response, given.status, given.body, given.headers)
      return
    }
    const body = chatAnswerBody(given, request.body, style)
    if (options.delayMs !== undefined) await pause(options.delayMs)
    if (request.body['stream'] !== true) {
      sendJson(response, 200, body)
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
    for (const event of chatAnswerEvents(body, request.body)) {
      response.write(`data: ${event}\n\n`)
      // A turn of the event loop between writes, so that chunks arrive as chunks.
      await (options.chunkDelayMs === undefined ? new Promise((resolve) => setImmediate(resolve)) : pause(options.chunkDelayMs))
    }
    response.end('data: [DONE]\n\n')
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  return { url: `http://127.0.0.1:${port}/v1`, requests, close, [Symbol.asyncDispose]: close }
}

async function readText(message: http.IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of message) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

function parseObject(text: string): { [key: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

function sendJson(response: http.ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
