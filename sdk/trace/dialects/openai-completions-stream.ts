// Puts the chunks of a text completion (the API before chat, which vLLM and others still serve) together: of this wire there is no more than its stream.
import type { Json } from '../episode.ts'
import { asArray, asObject, parseJson } from '../json.ts'
import type { StreamAssembler } from './dialect.ts'
import { append, isBlank, joinLists } from './openai-chat-deltas.ts'
import { toldError } from './told-error.ts'

type Fields = { [key: string]: Json }

/** Assembles the stream of `openai.completions`. */
export function assembleOpenAiCompletions(): StreamAssembler {
  return new CompletionsAssembler()
}

class CompletionsAssembler implements StreamAssembler {
  error: { type: string; message: string } | undefined
  private readonly head: Fields = {}
  private readonly choices = new Map<number, Fields>()
  private done = false
  private torn = false

  add(data: string): void {
    if (data.startsWith('[DONE]')) {
      this.done = true
      return
    }
    const chunk = asObject(parseJson(data))
    if (chunk === undefined) {
      this.torn ||= data !== '' && !this.done
      return
    }
    const { choices, error, ...rest } = chunk
    this.error = toldError(error) ?? this.error
    for (const [key, value] of Object.entries(rest)) if (!isBlank(value) || !(key in this.head)) this.head[key] = value
    for (const [place, sent] of asArray(choices).entries()) this.addChoice(asObject(sent) ?? {}, place)
  }

  get complete(): boolean {
    const finished = [...this.choices.values()].filter((choice) => !isBlank(choice['finish_reason']))
    return !this.torn && (this.done || (finished.length > 0 && finished.length === this.choices.size))
  }

  body(): Fields | undefined {
    if (this.choices.size === 0 && Object.keys(this.head).length === 0) return undefined
    const choices = [...this.choices].sort(([a], [b]) => a - b).map(([, choice]) => choice)
    return { ...this.head, choices }
  }

  private addChoice(sent: Fields, place: number): void {
    const index = typeof sent['index'] === 'number' ? sent['index'] : place
    const choice = this.choices.get(index) ?? { index }
    this.choices.set(index, choice)
    for (const [key, value] of Object.entries(sent)) {
      if (key === 'logprobs') choice[key] = joinLists(choice[key], value)
      else if (key === 'text' || key === 'token_ids') choice[key] = append(choice[key], value)
      else if (!isBlank(value) || !(key in choice)) choice[key] = value
    }
  }
}
