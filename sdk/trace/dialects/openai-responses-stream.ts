// Puts the events of a Responses API stream together. The terminal event holds the whole response; without one it is what `created` said plus the items
// and deltas that came.
import type { Json } from '../episode.ts'
import { asArray, asObject, asText, parseJson } from '../json.ts'
import type { StreamAssembler } from './dialect.ts'
import { toldError } from './told-error.ts'

type Fields = { [key: string]: Json }

/** Assembles the stream of `openai.responses`. */
export function assembleOpenAiResponses(): StreamAssembler {
  return new ResponsesAssembler()
}

class ResponsesAssembler implements StreamAssembler {
  complete = false
  error: { type: string; message: string } | undefined
  private response: Fields | undefined
  private readonly items = new Map<number, Fields>()

  add(data: string, event?: string): void {
    const fields = asObject(parseJson(data))
    if (fields === undefined) return
    const type = asText(fields['type']) ?? event ?? ''
    switch (type) {
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        this.complete = true
        this.takeResponse(fields)
        // A backend that stores nothing tells the items as they come, and in the end not again.
        if (type !== 'response.completed' || asArray(this.response?.['output']).length > 0) this.items.clear()
        if (type === 'response.failed') this.error = toldError(this.response?.['error'] ?? {}, 'failed')
        return
      case 'error':
        this.error = toldError(asObject(fields['error']) ?? fields)
        return
      case 'response.output_item.added':
      case 'response.output_item.done': {
        const item = asObject(fields['item'])
        if (item !== undefined) this.items.set(indexOf(fields, 'output_index'), item)
        return
      }
      default:
        if (asObject(fields['response']) !== undefined) this.takeResponse(fields)
        else this.addToItem(type, fields)
    }
  }

  body(): Fields | undefined {
    if (this.response === undefined && this.items.size === 0) return undefined
    if (this.items.size === 0) return this.response
    const output = [...asArray(this.response?.['output'])]
    for (const [index, item] of [...this.items].sort(([a], [b]) => a - b)) output[index] = item
    return { ...this.response, output: output.filter((item) => item !== undefined) }
  }

  private takeResponse(fields: Fields): void {
    const response = asObject(fields['response'])
    if (response !== undefined) this.response = response
  }

  private addToItem(type: string, fields: Fields): void {
    const index = indexOf(fields, 'output_index')
    let item = this.items.get(index)
    if (item === undefined) {
      if (!('output_index' in fields)) return
      item = { id: fields['item_id'] ?? null, type: itemTypeOf(type) }
      this.items.set(index, item)
    }
    const delta = fields['delta']
    switch (type) {
      case 'response.content_part.added':
      case 'response.content_part.done':
        place(item, 'content', indexOf(fields, 'content_index'), fields['part'])
        return
      case 'response.reasoning_summary_part.added':
      case 'response.reasoning_summary_part.done':
        place(item, 'summary', indexOf(fields, 'summary_index'), fields['part'])
        return
      case 'response.output_text.delta':
        grow(partOf(item, 'content', indexOf(fields, 'content_index'), { type: 'output_text', text: '', annotations: [] }), 'text', delta)
        growList(partOf(item, 'content', indexOf(fields, 'content_index'), {}), 'logprobs', fields['logprobs'])
        return
      case 'response.output_text.annotation.added':
        growList(partOf(item, 'content', indexOf(fields, 'content_index'), {}), 'annotations', [fields['annotation'] ?? null])
        return
      case 'response.refusal.delta':
        grow(partOf(item, 'content', indexOf(fields, 'content_index'), { type: 'refusal', refusal: '' }), 'refusal', delta)
        return
      case 'response.reasoning_summary_text.delta':
        grow(partOf(item, 'summary', indexOf(fields, 'summary_index'), { type: 'summary_text', text: '' }), 'text', delta)
        return
      case 'response.reasoning_text.delta':
        grow(partOf(item, 'content', indexOf(fields, 'content_index'), { type: 'reasoning_text', text: '' }), 'text', delta)
        return
      case 'response.function_call_arguments.delta':
      case 'response.mcp_call_arguments.delta':
        grow(item, 'arguments', delta)
        return
      case 'response.custom_tool_call_input.delta':
        grow(item, 'input', delta)
        return
      case 'response.code_interpreter_call_code.delta':
        grow(item, 'code', delta)
        return
      case 'response.function_call_arguments.done':
        if (typeof fields['arguments'] === 'string') item['arguments'] = fields['arguments']
    }
  }
}

/** Of an item whose beginning was not seen: events of calls are named after them. */
function itemTypeOf(type: string): string {
  const [, call] = /^response\.([a-z_]*?_call)(?:[_.]|$)/.exec(type) ?? []
  return call ?? (type.includes('reasoning') ? 'reasoning' : 'message')
}

function indexOf(fields: Fields, key: string): number {
  const value = fields[key]
  return typeof value === 'number' && value >= 0 && value < 10_000 ? value : 0
}

function place(item: Fields, list: string, index: number, part: Json | undefined): void {
  if (part === undefined) return
  const parts = asArray(item[list])
  parts[index] = part
  item[list] = parts
}

function partOf(item: Fields, list: string, index: number, fresh: Fields): Fields {
  const parts = asArray(item[list])
  const found = asObject(parts[index])
  if (found !== undefined) return found
  parts[index] = fresh
  item[list] = parts
  return fresh
}

function grow(target: Fields, key: string, delta: Json | undefined): void {
  if (typeof delta === 'string') target[key] = (asText(target[key]) ?? '') + delta
}

function growList(target: Fields, key: string, more: Json | undefined): void {
  if (!Array.isArray(more) || more.length === 0) return
  const held = target[key]
  if (!Array.isArray(held)) target[key] = [...more]
  else for (const each of more) held.push(each)
}
