// A span becomes a row: what kind of step it is, and typed columns beside the bodies as they were sent. Pure, so that a mended normaliser mends old data too.
import { exceptionEvent, genAi, homeground, operation, operationDetailsEvent } from './attributes.ts'
import { finishReason } from './finish-reason.ts'
import { foreignColumns } from './foreign/index.ts'
import { semconvBody } from './foreign/semconv.ts'
import type { RowKind, SpanRow } from './row.ts'
import type { Attributes, SpanRecord } from './span.ts'
import { SpanAttributes, textOf } from './span-attributes.ts'

/** Never throws, whatever the attributes hold. Without a project the row gets `defaultProject`. */
export function normaliseSpan(span: SpanRecord): SpanRow {
  const attributes = new SpanAttributes(withEventContent(span))
  // Our own spans carry none of another instrumentation's names; a span with both is ours.
  const foreign =
    attributes.has(homeground.api) || attributes.has(homeground.agentInput)
      ? undefined
      : foreignColumns(attributes, span.name.toWellFormed())
  const kind = foreign?.kind ?? kindOf(attributes)
  const endsBeforeStart = span.endTimeUnixNano < span.startTimeUnixNano
  const row: SpanRow = {
    project: projectOf(span.resource),
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? '',
    kind,
    name: span.name.toWellFormed(),
    startTimeUnixNano: span.startTimeUnixNano,
    endTimeUnixNano: endsBeforeStart ? span.startTimeUnixNano : span.endTimeUnixNano,
    session: attributes.text(genAi.sessionId) || attributes.text(genAi.conversationId),
    user: attributes.text(genAi.userId),
    agentName: attributes.text(genAi.agentName),
    agentVersion: attributes.text(genAi.agentVersion),
    tags: attributes.under(homeground.tag),
    variants: attributes.under(homeground.variant),
    ...errorColumns(span, attributes),
    ...modelColumns(attributes, kind),
    ...toolColumns(attributes, kind),
    input: attributes.text(homeground.agentInput),
    output: attributes.text(homeground.agentOutput),
    ...sourceColumns(attributes),
    flags: endsBeforeStart ? ['end-before-start'] : [],
    attributes: {},
    ...foreign,
    resource: Object.fromEntries(Object.entries(span.resource).map(([key, value]) => [key.toWellFormed(), textOf(value)])),
  }
  attributes.value(genAi.operationName)
  if (kind === 'agent' && row.input === '') row.input = attributes.text(genAi.inputMessages)
  if (kind === 'agent' && row.output === '') row.output = attributes.text(genAi.outputMessages)
  if (kind === 'agent' && row.agentName === '') row.agentName = row.name.replace(/^invoke_agent /, '')
  row.attributes = attributes.rest()
  return row
}

/** The conventions let senders put content into an event of the span instead of its attributes. */
function withEventContent(span: SpanRecord): Attributes {
  const details = span.events.find((event) => event.name === operationDetailsEvent)
  return details === undefined ? span.attributes : { ...details.attributes, ...span.attributes }
}

/** Where spans go that name no project. */
export const defaultProject = 'default'

/** `homeground.project` of the resource, else its `service.name` (but not OpenTelemetry's `unknown_service:node`), else `default`. */
export function projectOf(resource: Attributes): string {
  const service = textOf(resource[genAi.serviceName])
  return textOf(resource[homeground.project]) || (service.startsWith('unknown_service') ? '' : service) || defaultProject
}

const kinds: Readonly<Record<string, RowKind>> = {
  [operation.chat]: 'model',
  [operation.textCompletion]: 'model',
  [operation.embeddings]: 'model',
  generate_content: 'model',
  [operation.invokeAgent]: 'agent',
  invoke_workflow: 'agent',
  [operation.executeTool]: 'tool',
}

function kindOf(attributes: SpanAttributes): RowKind {
  if (attributes.has(homeground.ioName)) return 'io'
  const named = attributes.text(genAi.operationName)
  if (Object.hasOwn(kinds, named)) return kinds[named] ?? 'other'
  return attributes.has(homeground.api) ? 'model' : 'other'
}

function errorColumns(span: SpanRecord, attributes: SpanAttributes): Pick<SpanRow, 'errorType' | 'errorMessage'> {
  const exception = span.events.findLast((event) => event.name === 'exception')?.attributes ?? {}
  const failed = span.status.code === 2
  const type = attributes.text(genAi.errorType) || (failed ? textOf(exception[exceptionEvent.type]) || '_OTHER' : '')
  const message = attributes.text(homeground.errorMessage)
  if (type === '') return { errorType: '', errorMessage: '' }
  return {
    errorType: type,
    errorMessage: message || textOf(exception[exceptionEvent.message]) || (span.status.message ?? '').toWellFormed(),
  }
}

type ModelColumns = Pick<
  SpanRow,
  | 'api'
  | 'provider'
  | 'model'
  | 'responseModel'
  | 'responseId'
  | 'finishReasons'
  | 'inputTokens'
  | 'outputTokens'
  | 'cacheReadTokens'
  | 'cacheWriteTokens'
  | 'reasoningTokens'
  | 'firstChunkMs'
  | 'attempt'
  | 'partial'
  | 'requestBody'
  | 'responseBody'
>

function modelColumns(attributes: SpanAttributes, kind: RowKind): ModelColumns {
  if (kind !== 'model') {
    const none = { api: '', provider: '', model: '', responseModel: '', responseId: '' }
    return { ...none, finishReasons: [], attempt: 1, partial: false, requestBody: '', responseBody: '' }
  }
  // Beside a body of ours (`emitMessages`) they say the same once more.
  const described = semconvBody(attributes)
  return {
    api: attributes.text(homeground.api) || 'semconv',
    provider: attributes.text(genAi.providerName),
    model: attributes.text(genAi.requestModel),
    responseModel: attributes.text(genAi.responseModel),
    responseId: attributes.text(genAi.responseId),
    finishReasons: attributes.texts(genAi.responseFinishReasons).map(finishReason),
    ...counts({
      inputTokens: attributes.number(genAi.usageInputTokens),
      outputTokens: attributes.number(genAi.usageOutputTokens),
      cacheReadTokens: attributes.number(genAi.usageCacheReadInputTokens),
      cacheWriteTokens: attributes.number(genAi.usageCacheCreationInputTokens),
      reasoningTokens: attributes.number(genAi.usageReasoningOutputTokens),
      firstChunkMs: attributes.number(homeground.firstChunkMs),
    }),
    attempt: attributes.number(homeground.attempt) ?? 1,
    partial: attributes.flag(homeground.partial),
    requestBody: attributes.text(homeground.requestBody) || described,
    responseBody: attributes.text(homeground.responseBody),
  }
}

type Count = 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens' | 'reasoningTokens' | 'firstChunkMs'

function counts(given: Record<Count, number | undefined>): Partial<Record<Count, number>> {
  const known: Partial<Record<Count, number>> = {}
  for (const [key, value] of Object.entries(given) as [Count, number | undefined][]) if (value !== undefined) known[key] = value
  return known
}

function toolColumns(
  attributes: SpanAttributes,
  kind: RowKind,
): Pick<SpanRow, 'toolName' | 'callId' | 'effect' | 'arguments' | 'result' | 'offTape'> {
  if (kind === 'io') {
    return {
      toolName: attributes.text(homeground.ioName),
      callId: '',
      effect: '',
      arguments: attributes.text(homeground.ioKey),
      result: attributes.text(homeground.ioResult),
      offTape: attributes.text(homeground.replayOffTape),
    }
  }
  if (kind !== 'tool') return { toolName: '', callId: '', effect: '', arguments: '', result: '', offTape: '' }
  return {
    toolName: attributes.text(genAi.toolName),
    callId: attributes.text(genAi.toolCallId),
    effect: attributes.text(homeground.toolEffect),
    arguments: attributes.text(genAi.toolCallArguments),
    result: attributes.text(genAi.toolCallResult),
    offTape: attributes.text(homeground.replayOffTape),
  }
}

function sourceColumns(attributes: SpanAttributes): Pick<SpanRow, 'source' | 'sourceRef' | 'run' | 'arm' | 'task' | 'repeat'> {
  const run = attributes.text(homeground.replayRun)
  const said = attributes.text(homeground.sourceKind)
  const source = said === 'rollout' || said === 'import' || said === 'trace' ? said : run === '' ? 'trace' : 'rollout'
  return {
    source,
    sourceRef: attributes.text(homeground.sourceRef),
    run,
    arm: attributes.text(homeground.replayArm),
    task: attributes.text(homeground.replayTask),
    repeat: attributes.number(homeground.replayRepeat) ?? -1,
  }
}
