// Puts the chunks of a chat completion together to the body that the unstreamed call would have had. Deltas differ between servers: fields that nobody
// documented survive, and nothing that came is blanked out by a later null, "" or 0.
import type { Json } from '../episode.ts'
import { asArray, asObject, parseJson } from '../json.ts'
import { DeltaTemplates } from './delta-templates.ts'
import type { StreamAssembler } from './dialect.ts'
import { append, beginsAnother, isBlank, joinCall, joined, joinLists } from './openai-chat-deltas.ts'
import { toldError } from './told-error.ts'

type Fields = { [key: string]: Json }

/** Assembles the stream of `openai.chat`. */
export function assembleOpenAiChat(): StreamAssembler {
  return new ChatAssembler()
}

class ChatAssembler implements StreamAssembler {
  error: { type: string; message: string } | undefined
  private readonly head: Fields = {}
  private readonly choices = new Map<number, Choice>()
  private readonly templates = new DeltaTemplates()
  private done = false
  private seen = false
  /** An event was no JSON: something of the answer is missing. */
  private torn = false

  readonly addRun = (stream: string, start: number): number => this.templates.takeRun(stream, start)

  add(data: string, event?: string): void {
    if (this.templates.take(data)) return
    if (data.startsWith('[DONE]')) {
      this.done = true
      return
    }
    const chunk = asObject(parseJson(data))
    if (chunk === undefined) {
      this.torn ||= data !== '' && !this.done
      return
    }
    const { choices, obfuscation: _, error, ...rest } = chunk
    const repeated = growingString(chunk)
    if (repeated === undefined) this.templates.forget()
    const told = toldError(error) ?? (event === 'error' ? toldError(chunk) : undefined)
    if (told !== undefined) {
      this.error = told
      if (choices === undefined) return
    }
    this.seen = true
    for (const [key, value] of Object.entries(rest)) {
      if (key === 'object') continue
      // Chunks before the last say `usage: null`; the unstreamed body has the key or lacks it.
      if (key === 'usage' && value === null) continue
      if (isBlank(value) && key in this.head) continue
      if (key in this.head && this.head[key] !== value) this.templates.forget()
      this.head[key] = value
    }
    for (const [place, choice] of asArray(choices).entries()) {
      const fields = asObject(choice)
      if (fields === undefined) continue
      const index = typeof fields['index'] === 'number' ? fields['index'] : place
      let target = this.choices.get(index)
      if (target === undefined) {
        target = new Choice(index)
        this.choices.set(index, target)
      }
      target.add(fields)
      if (repeated !== undefined) this.templates.learn(data, repeated.key, repeated.value, target.growing(repeated))
    }
  }

  get complete(): boolean {
    if (this.torn) return false
    if (this.done) return true
    return this.choices.size > 0 && [...this.choices.values()].every((choice) => choice.finished)
  }

  body(): Fields | undefined {
    if (!this.seen) return undefined
    const choices = [...this.choices.values()].sort((a, b) => a.index - b.index).map((choice) => choice.body())
    return { ...this.head, object: 'chat.completion', choices }
  }
}

class Choice {
  readonly index: number
  private finishReason: Json = null
  private readonly fields: Fields = {}
  private readonly message: Fields = {}
  private readonly calls = new ToolCalls()

  constructor(index: number) {
    this.index = index
  }

  get finished(): boolean {
    return this.finishReason !== null
  }

  add(choice: Fields): void {
    const { index: _, delta, message, finish_reason: finishReason, logprobs, token_ids: tokenIds, ...rest } = choice
    if (!isBlank(finishReason)) this.finishReason = finishReason
    if (logprobs !== undefined) this.fields['logprobs'] = joinLists(this.fields['logprobs'], logprobs)
    if (tokenIds !== undefined) this.fields['token_ids'] = append(this.fields['token_ids'], tokenIds)
    for (const [key, value] of Object.entries(rest)) if (!isBlank(value) || !(key in this.fields)) this.fields[key] = value
    // Some servers end with a whole `message` instead of a delta.
    this.addDelta(asObject(delta ?? message) ?? {})
  }

  /** What a later event with the same growing string does. */
  growing({ key, call }: GrowingString): (text: string) => void {
    if (call !== undefined) return this.calls.growing(call)
    return (text) => {
      this.message[key] = joined(key, this.message[key], text)
    }
  }

  private addDelta(delta: Fields): void {
    for (const [key, value] of Object.entries(delta)) {
      if (key === 'tool_calls') for (const call of asArray(value)) this.calls.add(asObject(call) ?? {})
      else if (key === 'function_call') this.message[key] = joinCall(asObject(this.message[key]) ?? {}, asObject(value) ?? {})
      else if (key === 'role') {
        if (!isBlank(value)) this.message[key] = value
      } else if (value === null) {
        if (key === 'refusal' && !(key in this.message)) this.message[key] = null
      } else this.message[key] = joined(key, this.message[key], value)
    }
  }

  body(): Fields {
    const { role = 'assistant', content, ...rest } = this.message
    const calls = this.calls.body()
    return {
      index: this.index,
      message: {
        role,
        content: content === undefined || content === '' ? null : content,
        ...rest,
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
      },
      ...this.fields,
      finish_reason: this.finishReason,
    }
  }
}

/**
 * Keyed on index; without one, on the id, and a delta without either belongs to the call before it. Some servers number every call 0, or give neither: a call that
 * is whole already is followed by another of the same key.
 */
class ToolCalls {
  private readonly byIndex = new Map<Json, Fields[]>()
  private last: Json = 0

  add(delta: Fields): void {
    const { index, ...fields } = delta
    const key = this.keyOf(index, fields['id'])
    this.last = key
    this.grow(key, fields)
  }

  /** Grows the arguments of the call at this index, which is there. */
  growing(index: number): (text: string) => void {
    return (text) => {
      this.last = index
      this.grow(index, { function: { arguments: text } })
    }
  }

  body(): Fields[] {
    const numbered = [...this.byIndex].filter(([key]) => typeof key === 'number').sort(([a], [b]) => Number(a) - Number(b))
    return [...numbered, ...[...this.byIndex].filter(([key]) => typeof key !== 'number')].flatMap(([, calls]) => calls)
  }

  private grow(key: Json, fields: Fields): void {
    const calls = this.byIndex.get(key)
    const call = calls?.at(-1)
    if (calls === undefined) this.byIndex.set(key, [joinCall({}, fields)])
    else if (call === undefined || beginsAnother(call, fields)) calls.push(joinCall({}, fields))
    else joinCall(call, fields)
  }

  private keyOf(index: Json | undefined, id: Json | undefined): Json {
    if (typeof index === 'number') return index
    return typeof id === 'string' && id !== '' ? `id ${id}` : this.last
  }
}

interface GrowingString {
  /** The member that holds it. */
  key: string
  value: string
  /** Index of the tool call whose arguments it is. */
  call?: number
}

/** The one string by which the chunk differs from others of its kind; `undefined` where it says more than that. */
function growingString(chunk: Fields): GrowingString | undefined {
  const [only, second] = asArray(chunk['choices'])
  const choice = asObject(only)
  const delta = asObject(choice?.['delta'])
  if (choice === undefined || delta === undefined || second !== undefined || typeof choice['index'] !== 'number') return undefined
  if (
    !isBlank(chunk['error']) ||
    !isBlank(chunk['usage']) ||
    !isBlank(choice['finish_reason']) ||
    !isBlank(choice['logprobs']) ||
    choice['token_ids'] !== undefined
  )
    return undefined
  const telling = Object.entries(delta).filter(([key, value]) => key !== 'role' && value !== null)
  const [entry] = telling
  if (entry === undefined || telling.length > 1) return undefined
  const [key, value] = entry
  if (typeof value === 'string') return key === 'function_call' ? undefined : { key, value }
  const [call, another] = asArray(value)
  const fields = asObject(call)
  const inner = asObject(fields?.['function'])
  const index = fields?.['index']
  const text = inner?.['arguments']
  if (key !== 'tool_calls' || another !== undefined || typeof index !== 'number' || typeof text !== 'string') return undefined
  // A delta that names the call (its first one) says more than arguments.
  const plain =
    Object.entries(fields ?? {}).every(([name, each]) => name === 'index' || name === 'function' || isBlank(each)) &&
    Object.entries(inner ?? {}).every(([name, each]) => name === 'arguments' || isBlank(each))
  return plain ? { key: 'arguments', value: text, call: index } : undefined
}
