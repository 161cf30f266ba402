// Changes single values in JSON text and leaves every other byte as it was: what is parsed and written again has lost integers beyond 2^53, doubled keys and
// the order of numbers. Text that is no JSON is one value.
import type { Json } from '../trace/episode.ts'
import { parseJson } from '../trace/json.ts'

export interface JsonVisitor {
  /** Asked for every value from the outside in, where it is there; another value takes its place, with what is in it. */
  value?(value: Json, path: string): Json
  /** Asked for every text that stayed, keys too, and for every number as it is written. */
  text(text: string, path: string): string
}

/** The text with what the visitor says; not as `json` it is one value. JSON inside of a text (a tool call's arguments) is read on. Throws what the visitor throws. */
export function rewriteJson(text: string, path: string, json: boolean, visitor: JsonVisitor): string {
  if (!json || parseJson(text) === undefined) return new Rewriter(JSON.stringify(text), visitor).run(path, true)
  return new Rewriter(text, visitor).run(path, false)
}

class Rewriter {
  private readonly source: string
  private readonly visitor: JsonVisitor
  private at = 0
  private copied = 0
  private written = ''

  constructor(source: string, visitor: JsonVisitor) {
    this.source = source
    this.visitor = visitor
  }

  /** `plain`: the source is one text that was quoted for us. */
  run(path: string, plain: boolean): string {
    this.value(path)
    const all = this.written + this.source.slice(this.copied)
    if (!plain) return all
    const text: unknown = JSON.parse(all)
    return typeof text === 'string' ? text : JSON.stringify(text)
  }

  private value(path: string): void {
    this.space()
    const start = this.at
    if (this.visitor.value !== undefined) {
      this.skip()
      const sent: Json = JSON.parse(this.source.slice(start, this.at))
      const given = this.visitor.value(sent, path)
      if (given !== sent) {
        const { text } = this.visitor
        const inner: JsonVisitor = { text: (part, place) => text(part, place) }
        this.put(start, new Rewriter(JSON.stringify(given), inner).run(path, false))
        return
      }
      this.at = start
    }
    const first = this.source[start]
    if (first === '{') this.members('}', path, true)
    else if (first === '[') this.members(']', path, false)
    else if (first === '"') this.textual(path)
    else this.literal(path)
  }

  private members(end: string, path: string, named: boolean): void {
    this.at += 1
    for (let index = 0; ; index += 1) {
      this.space()
      if (this.source[this.at] === end) break
      let name = String(index)
      if (named) {
        name = this.textual(path, true)
        this.space()
        this.at += 1
      }
      this.value(path === '' ? name : `${path}.${name}`)
      this.space()
      if (this.source[this.at] === ',') this.at += 1
    }
    this.at += 1
  }

  /** Gives the text as it was sent. */
  private textual(path: string, key = false): string {
    const start = this.at
    this.at = this.endOfText()
    const sent: string = JSON.parse(this.source.slice(start, this.at))
    const rewritten =
      !key && /^\s*[[{]/.test(sent) && parseJson(sent) !== undefined ? this.within(sent, path) : this.visitor.text(sent, path)
    if (rewritten !== sent) this.put(start, JSON.stringify(rewritten))
    return sent
  }

  private within(sent: string, path: string): string {
    return new Rewriter(sent, this.visitor).run(path, false)
  }

  private literal(path: string): void {
    const start = this.at
    this.at = this.endOfLiteral()
    const sent = this.source.slice(start, this.at)
    if (!/^[-\d]/.test(sent)) return
    const rewritten = this.visitor.text(sent, path)
    if (rewritten !== sent) this.put(start, JSON.stringify(rewritten))
  }

  /** What stood from `start` to here is now `text`. */
  private put(start: number, text: string): void {
    this.written += this.source.slice(this.copied, start) + text
    this.copied = this.at
  }

  /** Goes behind the value that begins here. */
  private skip(): void {
    let depth = 0
    do {
      const character = this.source[this.at]
      if (character === '"') this.at = this.endOfText()
      else if (character === '{' || character === '[') {
        depth += 1
        this.at += 1
      } else if (character === '}' || character === ']') {
        depth -= 1
        this.at += 1
      } else if (character === ',' || character === ':' || /\s/.test(character ?? '')) this.at += 1
      else this.at = this.endOfLiteral()
    } while (depth > 0)
  }

  private endOfText(): number {
    for (let end = this.source.indexOf('"', this.at + 1); ; end = this.source.indexOf('"', end + 1)) {
      let escapes = 0
      while (this.source[end - 1 - escapes] === '\\') escapes += 1
      if (escapes % 2 === 0) return end + 1
    }
  }

  private endOfLiteral(): number {
    const pattern = /[^\s,\]}:]+/y
    pattern.lastIndex = this.at
    pattern.test(this.source)
    return pattern.lastIndex
  }

  private space(): void {
    while (/[\s]/.test(this.source[this.at] ?? '')) this.at += 1
  }
}
