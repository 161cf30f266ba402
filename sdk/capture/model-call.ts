// One HTTP attempt of a model call, from the request to the last byte that the caller read. While the call runs it only keeps references and copies bytes;
// bodies are put together and parsed on a later turn, or when a tool asks which call it serves.

import { secretsOf, withoutKeys } from '../privacy/key-patterns.ts'
import { errorOf } from '../run/error-of.ts'
import type { ModelTurn, RequestedCall } from '../run/model-turn.ts'
import { type OpenSpan, spanKind } from '../run/open-span.ts'
import type { Recorder } from '../run/recorder.ts'
import { genAi, homeground } from '../trace/attributes.ts'
import { readAmazonEvents } from '../trace/dialects/amazon-event-stream.ts'
import { assembleAnthropicMessages } from '../trace/dialects/anthropic-messages-stream.ts'
import type { StreamAssembler } from '../trace/dialects/dialect.ts'
import { assembleOpenAiChat } from '../trace/dialects/openai-chat-stream.ts'
import { assembleOpenAiCompletions } from '../trace/dialects/openai-completions-stream.ts'
import { assembleOpenAiResponses } from '../trace/dialects/openai-responses-stream.ts'
import { readServerSentEvents } from '../trace/dialects/server-sent-events.ts'
import { toldError } from '../trace/dialects/told-error.ts'
import type { Json } from '../trace/episode.ts'
import { asObject, asText, parseJson } from '../trace/json.ts'
import { addRequestFacts, addResponseFacts, isPending, requestedCalls } from './body-facts.ts'
import { boundedBody } from './bounded-body.ts'
import { ByteCollector } from './byte-collector.ts'
import type { ModelRequest } from './model-request.ts'
import { watchResponse } from './watch-response.ts'
import type { BodyWatcher } from './watch-stream.ts'

/** Stands where a content type would, of a body that is recorded in part or not at all because of its length. */
const beyondBounds = 'over maxBodyBytes'

const assemblers: Record<string, () => StreamAssembler> = {
  'openai.chat': assembleOpenAiChat,
  'openai.completions': assembleOpenAiCompletions,
  'openai.responses': assembleOpenAiResponses,
  'anthropic.messages': assembleAnthropicMessages,
}

/** What has come of a response: the text to record, the body parsed, whether it is whole, and an error that the stream told. */
interface Answer {
  text?: string
  body?: { [key: string]: Json }
  whole: boolean
  error?: { type: string; message: string }
}

/** One HTTP attempt, from its request to its last byte. */
export class ModelCall implements BodyWatcher, ModelTurn {
  readonly served = new Set<number>()
  private readonly recorder: Recorder
  private readonly request: ModelRequest
  private readonly span: OpenSpan
  private readonly collector: ByteCollector
  private readonly maxBodyBytes: number
  private wholeText: string | undefined
  /** Bytes of the budget that are taken beside the collector's. */
  private held = 0
  /** A body was left out: it is too long, or too many bytes were held already. */
  private cut = false
  private status: number | undefined
  private stream = false
  /** AWS's framing of a stream. */
  private binary = false
  /** Why the body is not recorded: the content type of what is no text, or that it is too long. */
  private untold: string | undefined
  private firstChunkMs: number | undefined
  private how: 'done' | 'left' | { error: unknown } | undefined
  /** Read once, when the call has ended. */
  private answer: Answer | undefined

  constructor(recorder: Recorder, request: ModelRequest, maxBodyBytes: number) {
    this.recorder = recorder
    this.request = this.hold(request.body) ? request : { ...request, body: undefined, pendingBody: undefined }
    this.span = recorder.start(request.endpoint.operation, spanKind.client)
    this.span.leave = () => this.end('left')
    this.collector = new ByteCollector(maxBodyBytes, recorder.bodies)
    this.maxBodyBytes = maxBodyBytes
  }

  /** The response has come; its body is watched from here on. @throws where it cannot be: a fake without headers, a frozen one */
  respond(response: Response): void {
    this.status = response.status
    const { frame } = this.span
    const asked = frame?.within ?? frame?.run
    // Not where texts are embedded or judged between the model's message and its tools.
    if (asked !== undefined && response.ok && this.request.endpoint.operation === 'chat') asked.turn = this
    const type = response.headers.get('content-type')?.toLowerCase() ?? ''
    this.binary = type.startsWith('application/vnd.amazon.eventstream')
    this.stream = this.binary || type.startsWith('text/event-stream')
    if (!this.stream && type !== '' && !/json|text|xml|html/.test(type)) this.untold = type
    watchResponse(response, this, { stream: this.stream })
  }

  /** There was no response. */
  failed(error: unknown): void {
    this.end({ error })
  }

  chunk(bytes: Uint8Array): void {
    this.firstChunkMs ??= this.recorder.now()
    if (this.untold === undefined) this.collector.add(bytes)
  }

  whole(text: string): void {
    if (this.collector.byteLength === 0 && this.how === undefined && this.hold(text)) this.wholeText = text
  }

  end(how: 'done' | 'left' | { error: unknown }): void {
    if (this.how !== undefined) return
    this.how = how
    const end = (): void => this.recorder.end(this.span, () => this.finish())
    const { pendingBody } = this.request
    if (pendingBody === undefined) end()
    else pendingBody.then(end, end)
  }

  calls(): readonly RequestedCall[] {
    return this.recorder.guard(() => requestedCalls(this.read().body ?? {}), [])
  }

  private hold(text: string | undefined): boolean {
    if (text === undefined) return true
    if (!this.recorder.bodies.take(text.length)) {
      this.cut = true
      return false
    }
    this.held += text.length
    return true
  }

  private finish(): void {
    try {
      this.fill()
    } finally {
      this.recorder.bodies.give(this.held + this.collector.byteLength)
      this.held = 0
      this.collector.release()
      // A run keeps its last call for the tools that it asks for: of that the parsed body is enough.
      this.wholeText = undefined
      this.answer = { whole: true, ...(this.answer?.body === undefined ? {} : { body: this.answer.body }) }
    }
  }

  private fill(): void {
    const { recorder, request, span } = this
    const { attributes } = span
    const { endpoint } = request
    const content = recorder.capturesContent(span.frame)
    const sent = asObject(request.body === undefined ? undefined : parseJson(request.body)) ?? {}
    attributes[genAi.operationName] = endpoint.operation
    attributes[genAi.providerName] = endpoint.provider
    attributes[genAi.serverAddress] = endpoint.host
    if (endpoint.port !== undefined) attributes[genAi.serverPort] = endpoint.port
    if (endpoint.api !== undefined) attributes[homeground.api] = endpoint.api
    attributes[homeground.attempt] = request.attempt
    addRequestFacts(attributes, sent)
    if (endpoint.model !== undefined) attributes[genAi.requestModel] ??= endpoint.model
    const model = attributes[genAi.requestModel]
    if (typeof model === 'string') span.name = `${endpoint.operation} ${model}`
    const kept = content && request.body !== undefined ? boundedBody(request.body, this.maxBodyBytes, this.knownFiles()) : undefined
    if (kept !== undefined) attributes[homeground.requestBody] = kept
    else if (content && (request.body !== undefined || request.isLong)) this.cut = true
    if (this.status !== undefined) attributes[genAi.httpStatusCode] = this.status
    if (this.stream && this.firstChunkMs !== undefined)
      attributes[homeground.firstChunkMs] = Math.round((this.firstChunkMs - span.startMs) * 1000) / 1000

    const { text, body, whole, error } = this.read()
    if (body !== undefined && this.status !== undefined && this.status < 400) addResponseFacts(attributes, body)
    const failed = (this.status !== undefined && this.status >= 400) || error !== undefined || typeof this.how === 'object'
    // Who refuses a key may say it again.
    const secrets = failed ? secretsOf(request.sentHeaders(), request.url) : []
    recorder.rememberSecrets(secrets)
    if (this.collector.truncated) this.untold ??= beyondBounds
    if (content && text !== undefined) this.keepAnswer(failed ? withoutKeys(text, secrets) : text)
    if (this.untold !== undefined) attributes[homeground.responseOmitted] = this.untold
    if (this.collector.truncated || this.cut) attributes[homeground.partial] = true
    this.conclude(whole, error, body)
    if (span.error !== undefined) span.error = { type: span.error.type, message: withoutKeys(span.error.message, secrets) }
  }

  private keepAnswer(text: string): void {
    const kept = boundedBody(text, this.maxBodyBytes)
    if (kept !== undefined) this.span.attributes[homeground.responseBody] = kept
    else {
      this.cut = true
      this.untold ??= beyondBounds
    }
  }

  /** Of the run: what it has recorded once needs no second time. */
  private knownFiles(): Set<string> | undefined {
    const run = this.span.frame?.run
    if (run === undefined) return undefined
    run.files ??= new Set()
    return run.files
  }

  /** How the call ended: HTTP error, error event, broken connection, left early, or well. */
  private conclude(whole: boolean, event: { type: string; message: string } | undefined, body: { [key: string]: Json } | undefined): void {
    const { span, how } = this
    if (this.status !== undefined && this.status >= 400) {
      const error = asObject(body?.['error'])
      span.error = {
        type: String(this.status),
        message: asText(error?.['message']) ?? asText(body?.['message']) ?? asText(body?.['error']) ?? '',
      }
    } else if (event !== undefined) span.error = event
    else if (typeof how === 'object') {
      const error = errorOf(how.error)
      // A caller that breaks off a body it has begun to read has left; nothing failed.
      if (error.type === 'AbortError' && this.status !== undefined) span.attributes[homeground.partial] = true
      else span.error = error
    } else if (!whole) span.attributes[homeground.partial] = true
  }

  private read(): Answer {
    if (this.how === undefined) return this.readSoFar()
    this.answer ??= this.readSoFar()
    return this.answer
  }

  private readSoFar(): Answer {
    const ended = this.how === 'done'
    const raw = (this.wholeText ?? (this.binary ? '' : this.collector.text())).replace(/^\ufeff/, '')
    const { api } = this.request.endpoint
    if (raw === '' && !this.binary) return { whole: ended && !this.stream && (api === undefined || this.untold !== undefined) }
    // Gateways send a stream as plain text, or as nothing, which the vendors' clients read all the same; and what is none as a stream.
    const stream = this.stream ? !/^\s*[[{<]/.test(raw) : /^[\r\n]*(?:event|data|id|retry)?:/.test(raw)
    const assemble = stream && api !== undefined ? assemblers[api] : undefined
    if (assemble === undefined && this.binary) {
      this.untold = 'application/vnd.amazon.eventstream'
      return { whole: ended }
    }
    if (assemble === undefined) {
      const body = stream ? undefined : asObject(parseJson(raw))
      // Of a known dialect an answer is an object, or it is not whole; one in the background is still to come.
      const whole = ended && (body === undefined ? api === undefined : !isPending(body))
      // Gateways tell errors under a good status, and so does a Responses answer that failed.
      const error = toldError(body?.['error'])
      return { text: raw, whole, ...(body === undefined ? {} : { body }), ...(error === undefined ? {} : { error }) }
    }
    const assembler = assemble()
    const add = (data: string, name: string | undefined): void => assembler.add(data, name)
    if (this.binary) readAmazonEvents(this.collector.bytes(), add)
    else readServerSentEvents(raw, add, assembler.addRun)
    const body = assembler.body()
    if (this.binary && body === undefined) this.untold = 'application/vnd.amazon.eventstream'
    return {
      whole: assembler.complete,
      ...(body === undefined ? {} : { body, text: JSON.stringify(body) }),
      ...(assembler.error === undefined ? {} : { error: assembler.error }),
    }
  }
}
