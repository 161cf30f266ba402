// Puts the events of an Anthropic Messages stream together: `message_start`, then content blocks by index, then what `message_delta` replaces.
import type { Json } from '../episode.ts'
import { asArray, asObject, asText, parseJson } from '../json.ts'
import type { StreamAssembler } from './dialect.ts'
import { toldError } from './told-error.ts'

type Fields = { [key: string]: Json }

/** Assembles the stream of `anthropic.messages`. */
export function assembleAnthropicMessages(): StreamAssembler {
  return new MessagesAssembler()
}

class MessagesAssembler implements StreamAssembler {
  error: { type: string; message: string } | undefined
  private message: Fields | undefined
  private stopped = false
  /** An event was no JSON: something of the answer is missing. */
  private torn = false
  private readonly blocks = new Map<number, Fields>()
  /** Tool input as text, by block: it is JSON only when it is whole. */
  private readonly inputs = new Map<number, string>()

  add(data: string, event?: string): void {
    const fields = asObject(parseJson(data))
    if (fields === undefined) {
      // Gateways end this stream too as OpenAI's ends.
      this.torn ||= data !== '' && !this.stopped && !data.startsWith('[DONE]')
      return
    }
    switch (asText(fields['type']) ?? event) {
      case 'message_start':
        this.message = asObject(fields['message'])
        return
      case 'content_block_start': {
        const block = asObject(fields['content_block'])
        if (block !== undefined) this.blocks.set(indexOf(fields), block)
        this.followFallback(block)
        return
      }
      case 'content_block_delta':
        this.addDelta(indexOf(fields), asObject(fields['delta']) ?? {})
        return
      case 'message_delta':
        this.addMessageDelta(fields)
        return
      case 'message_stop':
        this.stopped = true
        return
      case 'error':
        this.error = toldError(fields['error'] ?? {})
    }
  }

  get complete(): boolean {
    return this.stopped && !this.torn
  }

  body(): Fields | undefined {
    if (this.message === undefined && this.blocks.size === 0) return undefined
    const content: Json[] = [...asArray(this.message?.['content'])]
    for (const [index, block] of [...this.blocks].sort(([a], [b]) => a - b)) content[index] = this.finished(index, block)
    return { ...this.message, content: content.filter((block) => block !== undefined) }
  }

  private finished(index: number, block: Fields): Fields {
    const text = this.inputs.get(index)
    // A call without arguments sends one empty piece: its input is the {} of the block's start.
    if (text === undefined || text === '') return block
    return { ...block, input: parseJson(text) ?? text }
  }

  /** Another model goes on where one refused: the unstreamed message has the name of the last one. */
  private followFallback(block: Fields | undefined): void {
    const model = block?.['type'] === 'fallback' ? asObject(block['to'])?.['model'] : undefined
    if (model !== undefined && this.message !== undefined) this.message['model'] = model
  }

  private addDelta(index: number, delta: Fields): void {
    let block = this.blocks.get(index)
    if (block === undefined) {
      block = {}
      this.blocks.set(index, block)
    }
    const { type, ...fields } = delta
    if (type === 'input_json_delta') {
      this.inputs.set(index, (this.inputs.get(index) ?? '') + (asText(fields['partial_json']) ?? ''))
    } else if (type === 'citations_delta') {
      block['citations'] = [...asArray(block['citations']), ...(fields['citation'] === undefined ? [] : [fields['citation']])]
    } else if (type === 'compaction_delta') {
      // Holds the whole of it.
      Object.assign(block, fields)
    } else {
      // text, thinking, signature, and what else a provider invents: strings grow, anything else is the last one.
      for (const [key, value] of Object.entries(fields)) block[key] = typeof value === 'string' ? (asText(block[key]) ?? '') + value : value
    }
  }

  private addMessageDelta(fields: Fields): void {
    const message = this.message ?? {}
    this.message = message
    const { type: _, delta, usage, ...rest } = fields
    const counts = asObject(usage)
    // Usage is cumulative: a later count replaces the earlier one, never adds to it.
    if (counts !== undefined) message['usage'] = replaceBy({ ...asObject(message['usage']) }, counts)
    replaceBy(message, { ...rest, ...asObject(delta) })
  }
}

/** Null says that there is nothing new. */
function replaceBy(target: Fields, now: Fields): Fields {
  for (const [key, value] of Object.entries(now)) if (value !== null || !(key in target)) target[key] = value
  return target
}

function indexOf(fields: Fields): number {
  const index = fields['index']
  return typeof index === 'number' && index >= 0 && index < 10_000 ? index : 0
}
