// A rollout's tools for programs that do not use the SDK: `POST /tools/NAME`, or an MCP server at `/mcp` (streamable HTTP, answers as JSON).
import { asObject, asText, type Json } from '@homeground/sdk/trace'
import type { OtherAnswer, OtherRequest } from '../gateway/serve-gateway.ts'
import { ReplayedToolError } from './tool-answers.ts'
import type { RolloutJob, ToolRequest } from './types.ts'

/** MCP's revision that this speaks; a client that asks for another gets this one and decides. */
const mcpVersion = '2025-06-18'

export interface ToolServerOptions {
  job: RolloutJob
  /** Answers and records the call. @throws ReplayedToolError */
  call(request: ToolRequest): Promise<Json | undefined>
}

export function toolServer(options: ToolServerOptions): (request: OtherRequest) => Promise<OtherAnswer | undefined> {
  return async ({ method, path, body }) => {
    if (method === 'POST' && path === '/mcp') return await mcp(body, options)
    const name = /^\/tools\/([^/]+)$/.exec(path)?.[1]
    if (method !== 'POST' || name === undefined) return undefined
    const fields = asObject(body) ?? {}
    const callId = asText(fields['callId'])
    try {
      const result = await options.call({
        name: decodeURIComponent(name),
        arguments: fields['arguments'] ?? {},
        ...(callId === undefined ? {} : { callId }),
      })
      return { status: 200, body: { result: result ?? null } }
    } catch (error) {
      if (!(error instanceof ReplayedToolError)) throw error
      return { status: 422, body: { error: { type: error.name, message: error.message } } }
    }
  }
}

async function mcp(body: Json | undefined, options: ToolServerOptions): Promise<OtherAnswer> {
  const message = asObject(body) ?? {}
  const id = message['id']
  // A notification wants no answer.
  if (id === undefined) return { status: 202, body: {} }
  const answer = (fields: { [key: string]: Json }): OtherAnswer => ({ status: 200, body: { jsonrpc: '2.0', id, ...fields } })
  const params = asObject(message['params']) ?? {}
  switch (message['method']) {
    case 'initialize':
      return answer({
        result: { protocolVersion: mcpVersion, capabilities: { tools: {} }, serverInfo: { name: 'homeground', version: '1' } },
      })
    case 'ping':
      return answer({ result: {} })
    case 'tools/list':
      return answer({ result: { tools: definitions(options.job) } })
    case 'tools/call':
      return answer({ result: await mcpCall(params, options) })
    default:
      return answer({ error: { code: -32_601, message: `no method ${String(message['method'])}` } })
  }
}

async function mcpCall(params: { [key: string]: Json }, { call }: ToolServerOptions): Promise<Json> {
  const content = (value: Json | undefined): Json => [
    { type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value ?? null) },
  ]
  try {
    return { content: content(await call({ name: asText(params['name']) ?? '', arguments: params['arguments'] ?? {} })) }
  } catch (error) {
    if (!(error instanceof ReplayedToolError)) throw error
    return { content: content(error.message), isError: true }
  }
}

/** The task's definitions; else the environment's tools by name. */
function definitions({ task, tools }: RolloutJob): Json {
  if (task.tools !== undefined) {
    return task.tools.map((tool): Json => {
      const { name, description, parameters } = asObject(tool) ?? {}
      return { name: name ?? '', ...(description === undefined ? {} : { description }), inputSchema: parameters ?? { type: 'object' } }
    })
  }
  return Object.keys(tools).map((name): Json => ({ name, inputSchema: { type: 'object' } }))
}
