// One row becomes one step of an episode: bodies are read by their dialect, JSON texts are parsed, what was not said is absent.
import { homeground } from './attributes.ts'
import { canonicalBody, canonicalRequest, canonicalResponse } from './canonical-body.ts'
import { dialectOf } from './dialects/index.ts'
import type {
  AgentCall,
  Effect,
  Episode,
  IoRead,
  Json,
  Message,
  ModelCall,
  ModelRequest,
  ModelResponse,
  StepBase,
  StepError,
  ToolCall,
  Usage,
} from './episode.ts'
import { foreignReaderOf } from './foreign/index.ts'
import { asObject, asText, jsonOrText, parseWellFormed } from './json.ts'
import type { SpanRow } from './row.ts'

/** A call of one attempt, or of several: the last one answered. */
export function modelCallOf(attempts: readonly [SpanRow, ...SpanRow[]], parent: string | undefined): ModelCall {
  const first = attempts[0]
  const last = attempts.at(-1) ?? first
  const dialect = dialectOf(last.api)
  const { model, ...request } = readRequest(last)
  const { response, tokens } = readResponse(last)
  return {
    ...baseOf(last, parent),
    startedAt: isoOf(first.startTimeUnixNano),
    durationMs: msBetween(first.startTimeUnixNano, last.endTimeUnixNano),
    kind: 'model',
    api: last.api,
    provider: last.provider || dialect?.provider || '',
    model: last.model || model,
    request,
    ...(response === undefined ? {} : { response }),
    ...(last.partial ? { partial: true } : {}),
    ...(last.attempt > 1 ? { attempts: last.attempt } : {}),
    ...(last.firstChunkMs === undefined ? {} : { firstChunkMs: last.firstChunkMs }),
    ...(tokens === undefined ? {} : { tokens }),
  }
}

export function toolCallOf(row: SpanRow, parent: string | undefined): ToolCall {
  return {
    ...baseOf(row, parent),
    kind: 'tool',
    name: row.toolName,
    ...(row.callId === '' ? {} : { callId: row.callId }),
    arguments: jsonOf(row.arguments) ?? {},
    ...member('result', row.result),
    effect: isEffect(row.effect) ? row.effect : 'unknown',
    ...(row.offTape === '' ? {} : { offTape: row.offTape }),
  }
}

export function ioReadOf(row: SpanRow, parent: string | undefined): IoRead {
  return { ...baseOf(row, parent), kind: 'io', name: row.toolName, ...member('key', row.arguments), ...member('result', row.result) }
}

export function agentCallOf(row: SpanRow, parent: string | undefined): AgentCall {
  return { ...baseOf(row, parent), kind: 'agent', name: row.agentName, ...member('input', row.input), ...member('output', row.output) }
}

/** The agent span at the top, as the episode's own fields. */
export function agentFieldsOf(row: SpanRow): Pick<Episode, 'startedAt' | 'durationMs' | 'input' | 'output' | 'error' | 'agent'> {
  const { startedAt, durationMs, error } = baseOf(row, undefined)
  return {
    agent: { name: row.agentName, ...(row.agentVersion === '' ? {} : { version: row.agentVersion }), ...argumentsOf(row) },
    startedAt,
    durationMs,
    ...member('input', row.input),
    ...member('output', row.output),
    ...(error === undefined ? {} : { error }),
  }
}

/** The count has no column: hardly any agent takes more than one. */
function argumentsOf({ attributes }: SpanRow): { arguments?: number } {
  const count = attributes[homeground.agentArguments]
  return count !== undefined && /^\d{1,3}$/.test(count) ? { arguments: Number(count) } : {}
}

export function isoOf(unixNano: bigint): string {
  return new Date(Number(unixNano / 1_000_000n)).toISOString()
}

export function msBetween(startUnixNano: bigint, endUnixNano: bigint): number {
  return Number(endUnixNano - startUnixNano) / 1e6
}

function baseOf(row: SpanRow, parent: string | undefined): StepBase {
  return {
    id: row.spanId,
    ...(parent === undefined ? {} : { parent }),
    startedAt: isoOf(row.startTimeUnixNano),
    durationMs: msBetween(row.startTimeUnixNano, row.endTimeUnixNano),
    ...(row.errorType === '' ? {} : { error: errorOf(row) }),
  }
}

function errorOf(row: SpanRow): StepError {
  return { type: row.errorType, message: row.errorMessage }
}

function readRequest(row: SpanRow): ModelRequest & { model: string } {
  const none = { model: '', messages: [], tools: [], parameters: {} }
  const body = bodyOf(row.requestBody)
  const kept = asObject(asObject(body)?.[canonicalBody])
  if (kept !== undefined) return { ...none, ...canonicalRequest(kept) }
  if (body === undefined) return none
  const dialect = dialectOf(row.api)
  if (dialect !== undefined) return dialect.readRequest(body)
  const foreign = foreignReaderOf(row.api)
  if (foreign !== undefined) return foreign.readRequest(asObject(body) ?? {})
  const { model, ...parameters } = asObject(body) ?? {}
  return { ...none, model: asText(model) ?? '', parameters }
}

function readResponse(row: SpanRow): { response?: ModelResponse; tokens?: ModelCall['tokens'] } {
  const body = bodyOf(row.responseBody)
  const kept = asObject(asObject(body)?.[canonicalBody])
  if (kept !== undefined) return canonicalResponse(kept)
  const dialect = dialectOf(row.api)
  const read = body === undefined ? foreignResponse(row) : dialect?.readResponse(body)
  const tokens = read === undefined || body === undefined ? undefined : dialect?.readTokens?.(body)
  const response = read === undefined ? responseOfColumns(row) : { ...read, usage: { ...usageOf(row), ...read.usage } }
  return { ...(response === undefined ? {} : { response }), ...(tokens === undefined ? {} : { tokens }) }
}

/** Another instrumentation's answer stands beside its request, in one body. */
function foreignResponse(row: SpanRow): ModelResponse | undefined {
  const reader = foreignReaderOf(row.api)
  const body = asObject(bodyOf(row.requestBody)) ?? {}
  const outputs = reader?.readOutputs(body) ?? []
  if (outputs.length === 0) return undefined
  const said = row.finishReasons.length === outputs.length ? row.finishReasons : reader?.readFinishReasons?.(body)
  return { ...(responseOfColumns(row) ?? { usage: {} }), outputs, finishReasons: said ?? outputs.map(likelyFinishReason) }
}

/** Where nobody says why a model stopped: it called a tool, or it was done. */
function likelyFinishReason(output: Message): string {
  return output.parts.some((part) => part.type === 'tool_call') ? 'tool_call' : 'stop'
}

/** What is known of a response whose content was not captured. */
function responseOfColumns(row: SpanRow): ModelResponse | undefined {
  const usage = usageOf(row)
  const said = row.responseId !== '' || row.responseModel !== '' || row.finishReasons.length > 0 || Object.keys(usage).length > 0
  if (!said || (row.errorType !== '' && row.responseId === '')) return undefined
  return {
    ...(row.responseModel === '' ? {} : { model: row.responseModel }),
    ...(row.responseId === '' ? {} : { id: row.responseId }),
    outputs: [],
    finishReasons: row.finishReasons,
    usage,
  }
}

function usageOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens }: SpanRow): Usage {
  return {
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  }
}

function bodyOf(text: string): Json | undefined {
  return text === '' ? undefined : parseWellFormed(text)
}

function jsonOf(text: string): Json | undefined {
  return text === '' ? undefined : jsonOrText(text)
}

function member<Name extends string>(name: Name, text: string): { [Key in Name]?: Json } {
  const value = jsonOf(text)
  const fields: { [Key in Name]?: Json } = {}
  if (value !== undefined) fields[name] = value
  return fields
}

function isEffect(text: string): text is Effect {
  return text === 'none' || text === 'read' || text === 'write' || text === 'unknown'
}
