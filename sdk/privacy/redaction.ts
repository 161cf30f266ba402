// What a user wants changed before anything leaves the process: in bodies, tools, users, sessions, tags, errors and feedback. It fails closed: where a hook
// throws, the value does not leave.
import { types } from 'node:util'
import type { FeedbackRecord } from '../export/types.ts'
import { genAi, homeground as names } from '../trace/attributes.ts'
import type { Json } from '../trace/episode.ts'
import type { Attributes, AttributeValue, SpanRecord } from '../trace/span.ts'
import { type Pseudonym, pseudonymsOf } from './pseudonym.ts'
import { type BuiltInRedactor, redactText } from './redactors.ts'
import { type JsonVisitor, rewriteJson } from './rewrite-json.ts'

/** Where a redaction hook is asked, and what it may use. */
export interface RedactPlace {
  /** Where the value stands: `request.messages.0.content`, `tool.arguments.card`, `tool.result.…`, `agent.input.…`, `user`, `session`, `tags.plan`, … */
  path: string
  /** A word for the value, the same for the same value: `<kind:3f2a91c0>`. */
  pseudonym: Pseudonym
}

/**
 * Asked for every value, from the outside in. What it returns takes the value's place; `undefined` leaves it as it is. Where it throws, `[redaction failed]` stands.
 * A replay asks it again for what it has answered before: it must leave its own answers as they are, as `pseudonym` does.
 */
export type RedactHook = (value: Json, place: RedactPlace) => Json | undefined

/** What redaction is made from: the options of the product's `homeground()`. */
export interface RedactionOptions {
  project: string
  redact: readonly (BuiltInRedactor | RedactHook)[]
  /** The secret that pseudonyms are made with. */
  key: string
}

const failed = '[redaction failed]'

/** What redaction must not touch: ids, names and numbers that are no content, or are needed to find a call. */
const untouched = new Set<string>([
  genAi.operationName,
  genAi.providerName,
  genAi.requestModel,
  genAi.responseModel,
  genAi.responseId,
  genAi.toolType,
  genAi.toolCallId,
  genAi.agentName,
  genAi.agentVersion,
  genAi.errorType,
  genAi.serverAddress,
  names.api,
  names.toolEffect,
  names.ioName,
])

/** Attributes by the paths that hooks are told. Others, of other instrumentations, are told by their own names. */
const paths: Readonly<Record<string, string>> = {
  [names.requestBody]: 'request',
  [names.responseBody]: 'response',
  [names.agentInput]: 'agent.input',
  [names.agentOutput]: 'agent.output',
  [names.ioKey]: 'io.key',
  [names.ioResult]: 'io.result',
  [names.errorMessage]: 'error.message',
  [genAi.toolCallArguments]: 'tool.arguments',
  [genAi.toolCallResult]: 'tool.result',
  [genAi.sessionId]: 'session',
  [genAi.conversationId]: 'session',
  [genAi.userId]: 'user',
}

/** Redacts as a product with the same options does: for programs that compare live values with recorded ones. */
export class Redaction {
  private readonly visitor: JsonVisitor
  private readonly onFailure: (error: unknown) => void

  constructor({ project, redact, key }: RedactionOptions, onFailure: (error: unknown) => void = () => {}) {
    const pseudonym = pseudonymsOf(key, project)
    const hooks = redact.filter((each) => typeof each === 'function')
    const built = redact.filter((each) => typeof each === 'string')
    this.onFailure = onFailure
    this.visitor = {
      text: (text) => (isEncoded(text) || built.length === 0 ? text : redactText(text, built, pseudonym)),
      ...(hooks.length === 0 ? {} : { value: (value, path) => this.hooked(hooks, value, { path, pseudonym }) }),
    }
  }

  /** A JSON value, as it would be recorded: a replay compares it with what was. */
  value(value: Json, path: string): Json {
    const text = JSON.stringify(value)
    const redacted = this.rewritten(text, path, true)
    if (redacted === text) return value
    // Redaction that failed leaves a word, which is no JSON.
    return redacted === failed ? failed : JSON.parse(redacted)
  }

  /** The text of an attribute: JSON in those that hold it, else only where it is an object or a list. */
  text(text: string, path: string): string {
    return this.rewritten(text, path, /^(request|response|tool|agent|io)\b/.test(path) || /^\s*[[{]/.test(text))
  }

  private rewritten(text: string, path: string, json: boolean): string {
    try {
      const redacted = rewriteJson(text, path, json, this.visitor)
      return redacted === text ? text : withoutTokens(redacted, path)
    } catch (error) {
      this.onFailure(error)
      return failed
    }
  }

  span(span: SpanRecord): SpanRecord {
    const message = span.status.message
    return {
      ...span,
      name: this.name(span.name),
      attributes: this.attributes(span.attributes),
      status: message === undefined || message === '' ? span.status : { ...span.status, message: this.text(message, 'error.message') },
      events: span.events.map((event) => ({ ...event, attributes: this.attributes(event.attributes) })),
    }
  }

  feedback(feedback: FeedbackRecord): FeedbackRecord {
    const { value, comment } = feedback
    return {
      ...feedback,
      value: typeof value === 'string' ? this.text(value, 'feedback.value') : value,
      ...(comment === undefined ? {} : { comment: this.text(comment, 'feedback.comment') }),
    }
  }

  private attributes(attributes: Attributes): Attributes {
    return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, this.named(name, value)]))
  }

  private name(name: string): string {
    // A tool that does not exist has the name that the model wrote: for the built-in redactors, since a hook may not rename a tool.
    return this.visitor.text(name, 'name')
  }

  private named(name: string, value: AttributeValue): AttributeValue {
    if (name === genAi.toolName && typeof value === 'string') return this.name(value)
    return untouched.has(name) ? value : this.attribute(value, pathOf(name))
  }

  private attribute(value: AttributeValue, path: string): AttributeValue {
    if (typeof value === 'string') return this.text(value, path)
    if (Array.isArray(value)) return value.map((item, index) => this.attribute(item, `${path}.${index}`))
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.attribute(member, `${path}.${name}`)]))
  }

  private hooked(hooks: readonly RedactHook[], value: Json, place: RedactPlace): Json {
    try {
      return hooks.reduce((rest, hook) => {
        const given = hook(rest, place)
        refusePromise(given)
        return given === undefined ? rest : given
      }, value)
    } catch (error) {
      this.onFailure(error)
      return failed
    }
  }
}

/** The types forbid it, JavaScript does not. */
function refusePromise(given: unknown): void {
  if (!types.isPromise(given)) return
  given.catch(() => undefined)
  throw new TypeError('a redaction hook answers at once, not with a promise')
}

function pathOf(name: string): string {
  if (name.startsWith(names.tag)) return `tags.${name.slice(names.tag.length)}`
  if (name.startsWith(names.variant)) return `variants.${name.slice(names.variant.length)}`
  return paths[name] ?? name
}

/** Images and other bytes as base64: what looks like a number or a key in them is none. */
function isEncoded(text: string): boolean {
  return /^data:[^,]{0,200};base64,/.test(text) || (text.length > 256 && !/\s/.test(text) && /^[A-Za-z0-9+/_-]+={0,2}$/.test(text))
}

const tokenFields = new Set(['logprobs', 'prompt_logprobs', 'token_ids', 'prompt_token_ids', 'top_logprobs'])

/** A text that was changed is still told by its tokens: they go too. */
function withoutTokens(text: string, path: string): string {
  if (path !== 'response' && path !== 'request') return text
  return rewriteJson(text, '', true, {
    text: (part) => part,
    value: (value, place) =>
      typeof value === 'object' && value !== null && tokenFields.has(place.slice(place.lastIndexOf('.') + 1)) ? null : value,
  })
}
