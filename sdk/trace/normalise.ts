// A span becomes a row: what kind of step it is, and typed columns beside the bodies as they were sent. Pure, so that a mended normaliser mends old data too.
import { exceptionEvent, genAi, homeground, operation } from './attributes.ts'
import { emptyRow } from './empty-row.ts'
import { finishReason } from './finish-reason.ts'
import { foreignColumns } from './foreign/index.ts'
import { contentOfEvents, isMessageEvent, messageEventFields } from './foreign/message-events.ts'
import { dropMessages, semconv, semconvBody } from './foreign/semconv.ts'
import type { RowKind, SpanRow } from './row.ts'
import type { Attributes, SpanRecord } from './span.ts'
import { put, SpanAttributes, textOf } from './span-attributes.ts'

/** Never throws, whatever the attributes hold. Without a project the row gets `defaultProject`. */
export function normaliseSpan(span: SpanRecord): SpanRow {
  const attributes = new SpanAttributes(withEventContent(span))
  const name = span.name.toWellFormed()
  // Our own spans carry none of another instrumentation's names; a span with both is ours.
  const isOurs = attributes.has(homeground.api) || attributes.has(homeground.agentInput)
  const foreign = isOurs ? undefined : foreignColumns(attributes, name)
  const resource = resourceColumns(span.resource)
  const row = emptyRow()
  row.project = resource.project
  row.traceId = span.traceId
  row.spanId = span.spanId
  row.parentSpanId = span.parentSpanId ?? ''
  row.kind = foreign?.kind ?? kindOf(attributes)
  row.name = name
  row.startTimeUnixNano = span.startTimeUnixNano
  row.endTimeUnixNano = span.endTimeUnixNano
  if (span.endTimeUnixNano < span.startTimeUnixNano) {
    row.endTimeUnixNano = span.startTimeUnixNano
    row.flags.push('end-before-start')
  }
  row.session = attributes.text(genAi.sessionId) || attributes.text(genAi.conversationId)
  row.user = attributes.text(genAi.userId)
  row.agentName = attributes.text(genAi.agentName)
  row.agentVersion = attributes.text(genAi.agentVersion)
  row.tags = attributes.under(homeground.tag)
  row.variants = attributes.under(homeground.variant)
  fillError(row, span, attributes)
  if (row.kind === 'model') fillModel(row, attributes)
  if (row.kind === 'tool' || row.kind === 'io') fillTool(row, attributes)
  row.input = attributes.text(homeground.agentInput)
  row.output = attributes.text(homeground.agentOutput)
  fillSource(row, attributes)
  if (foreign !== undefined) Object.assign(row, foreign)
  row.resource = resource.texts
  attributes.value(genAi.operationName)
  if (row.kind === 'agent') {
    row.input ||= attributes.text(genAi.inputMessages) || attributes.text(genAi.legacyPrompt)
    row.output ||= attributes.text(genAi.outputMessages) || attributes.text(genAi.legacyCompletion)
    row.agentName ||= name.replace(/^invoke_(agent|workflow) /, '')
  }
  row.attributes = attributes.rest()
  return row
}

/** Of each resource once: all spans of a request share it, and so do their rows. */
const seenResources = new WeakMap<Attributes, { project: string; texts: Record<string, string> }>()

function resourceColumns(resource: Attributes): { project: string; texts: Record<string, string> } {
  let columns = seenResources.get(resource)
  if (columns === undefined) {
    const texts: Record<string, string> = {}
    for (const [key, value] of Object.entries(resource)) put(texts, key.toWellFormed(), textOf(value))
    columns = { project: projectOf(resource), texts }
    seenResources.set(resource, columns)
  }
  return columns
}

/** The conventions let senders put content into events of the span instead of its attributes. */
function withEventContent(span: SpanRecord): Attributes {
  const events = span.events.filter((event) => isMessageEvent(event.name))
  if (events.length === 0) return span.attributes
  const content = contentOfEvents(events.map(({ name, attributes }) => ({ name, fields: messageEventFields(attributes) })))
  return { ...content, ...span.attributes }
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
  // Before the conventions had a list of them.
  completion: 'model',
  embedding: 'model',
  [operation.invokeAgent]: 'agent',
  invoke_workflow: 'agent',
  [operation.executeTool]: 'tool',
}

function kindOf(attributes: SpanAttributes): RowKind {
  if (attributes.has(homeground.ioName)) return 'io'
  const named = attributes.text(genAi.operationName)
  if (Object.hasOwn(kinds, named)) return kinds[named] ?? 'other'
  if (attributes.has(homeground.api)) return 'model'
  // Before v1.27 spans had no operation, and model calls were all there was.
  return named === '' && attributes.has(genAi.requestModel) && !attributes.has(genAi.toolName) ? 'model' : 'other'
}

function fillError(row: SpanRow, span: SpanRecord, attributes: SpanAttributes): void {
  const exception = span.events.findLast((event) => event.name === 'exception')?.attributes ?? {}
  const failed = span.status.code === 2
  const type = attributes.text(genAi.errorType) || (failed ? textOf(exception[exceptionEvent.type]) || '_OTHER' : '')
  const message = attributes.text(homeground.errorMessage)
  if (type === '') return
  row.errorType = type
  row.errorMessage = message || textOf(exception[exceptionEvent.message]) || (span.status.message ?? '').toWellFormed()
}

function fillModel(row: SpanRow, attributes: SpanAttributes): void {
  row.api = attributes.text(homeground.api) || semconv.api
  row.provider = attributes.text(genAi.providerName)
  row.model = attributes.text(genAi.requestModel)
  row.responseModel = attributes.text(genAi.responseModel)
  row.responseId = attributes.text(genAi.responseId)
  row.finishReasons = attributes.texts(genAi.responseFinishReasons).map(finishReason)
  fillCount(row, 'inputTokens', attributes.number(genAi.usageInputTokens))
  fillCount(row, 'outputTokens', attributes.number(genAi.usageOutputTokens))
  fillCount(row, 'cacheReadTokens', attributes.number(genAi.usageCacheReadInputTokens))
  fillCount(row, 'cacheWriteTokens', attributes.number(genAi.usageCacheCreationInputTokens))
  fillCount(row, 'reasoningTokens', attributes.number(genAi.usageReasoningOutputTokens))
  fillCount(row, 'firstChunkMs', attributes.number(homeground.firstChunkMs) ?? milliseconds(attributes.number(genAi.timeToFirstChunk)))
  row.attempt = attributes.number(homeground.attempt) ?? 1
  row.partial = attributes.flag(homeground.partial)
  row.requestBody = attributes.text(homeground.requestBody)
  if (row.requestBody !== '') dropMessages(attributes)
  else if (row.api === semconv.api) row.requestBody = semconvBody(attributes)
  row.responseBody = attributes.text(homeground.responseBody)
}

type Count = 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens' | 'reasoningTokens' | 'firstChunkMs'

/** A count that is not known is absent. */
function fillCount(row: SpanRow, name: Count, value: number | undefined): void {
  if (value !== undefined) row[name] = value
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000
}

function fillTool(row: SpanRow, attributes: SpanAttributes): void {
  const isRead = row.kind === 'io'
  row.toolName = attributes.text(isRead ? homeground.ioName : genAi.toolName)
  row.arguments = attributes.text(isRead ? homeground.ioKey : genAi.toolCallArguments)
  row.result = attributes.text(isRead ? homeground.ioResult : genAi.toolCallResult)
  row.offTape = attributes.text(homeground.replayOffTape)
  if (isRead) return
  row.callId = attributes.text(genAi.toolCallId)
  row.effect = attributes.text(homeground.toolEffect)
}

function fillSource(row: SpanRow, attributes: SpanAttributes): void {
  const said = attributes.text(homeground.sourceKind)
  row.run = attributes.text(homeground.replayRun)
  row.source = said === 'rollout' || said === 'import' || said === 'trace' ? said : row.run === '' ? 'trace' : 'rollout'
  row.sourceRef = attributes.text(homeground.sourceRef)
  row.arm = attributes.text(homeground.replayArm)
  row.task = attributes.text(homeground.replayTask)
  row.repeat = attributes.number(homeground.replayRepeat) ?? -1
}
