// A stream's events differ in one string: the text that was generated. Once an event was parsed, the next ones of its kind are recognised by the text around
// that string, and only the string is read. Parsing every event costs ten times as much.

interface Template {
  before: string
  after: string
  /** What follows padding of changing length; absent where there is none. */
  end: string | undefined
  grow: (text: string) => void
}

export class DeltaTemplates {
  private templates: Template[] = []

  /** True when the event is one of a known kind: its string has been given to that kind's `grow`. */
  take(data: string): boolean {
    for (const { before, after, end, grow } of this.templates) {
      // Slices are compared at once, `startsWith` character by character.
      if (data.slice(0, before.length) !== before) continue
      const close = closingQuote(data, before.length)
      const rest = close + after.length
      if (close < 0 || data.slice(close, rest) !== after) continue
      if (end === undefined ? rest !== data.length : !endsAfterPadding(data, rest, end)) continue
      const text = stringOf(data, before.length, close)
      if (text === undefined) continue
      grow(text)
      return true
    }
    return false
  }

  /**
   * Takes the events of one kind that follow each other in a stream's text: by far most of them, without cutting each out first. `start` is the `data:` of an
   * event; gives where the first event begins that was not taken.
   */
  takeRun(stream: string, start: number): number {
    const lead = stream.slice(start, start + (stream.charCodeAt(start + 5) === 32 ? 6 : 5))
    for (const { before, after, end, grow } of this.templates) {
      const opening = lead + before
      const ending = `${end ?? after}\n\n`
      let text = ''
      let next = start
      for (;;) {
        const begin = next + opening.length
        if (stream.slice(next, begin) !== opening) break
        const close = closingQuote(stream, begin)
        const tail = end === undefined || close < 0 ? close : afterPadding(stream, close, after)
        const stop = tail + ending.length
        // A line end in a text or in padding would have ended the event.
        if (tail < 0 || stream.slice(tail, stop) !== ending || stream.indexOf('\n', begin) !== stop - 2) break
        text += stream.slice(begin, close)
        next = stop
      }
      const grown = next === start ? undefined : stringOf(text, 0, text.length)
      if (grown === undefined) continue
      grow(grown)
      return next
    }
    return start
  }

  /**
   * Learns from an event that was parsed: member `key` holds `value`, and everything else in it says nothing new when it comes again. Providers pad events with
   * an `obfuscation` of changing length.
   */
  learn(data: string, key: string, value: string, grow: (text: string) => void): void {
    const name = [`"${key}":"`, `"${key}": "`].find((each) => data.includes(each))
    if (name === undefined || this.templates.length >= 8) return
    const start = data.indexOf(name) + name.length
    const close = closingQuote(data, start)
    // The same member twice, or another one of this name: then the text does not tell which is meant.
    if (data.includes(name, start) || close < 0 || stringOf(data, start, close) !== value) return
    const padding = /"obfuscation": ?"/.exec(data.slice(close))
    const padded = padding === null ? undefined : close + padding.index + padding[0].length
    const paddingEnd = padded === undefined ? -1 : data.indexOf('"', padded)
    this.templates.push({
      before: data.slice(0, start),
      after: data.slice(close, padded),
      end: padded === undefined || paddingEnd < 0 ? undefined : data.slice(paddingEnd),
      grow,
    })
  }

  /** An event that changes what the known ones repeat. */
  forget(): void {
    if (this.templates.length > 0) this.templates = []
  }
}

/** Where padding ends that follows `after`, which stands at `close`; -1 where it does not. */
function afterPadding(stream: string, close: number, after: string): number {
  const padding = close + after.length
  return stream.slice(close, padding) === after ? stream.indexOf('"', padding) : -1
}

/** The quote that ends the JSON string whose text begins at `start`; -1 where none does. */
function closingQuote(data: string, start: number): number {
  let quote = data.indexOf('"', start)
  while (quote > 0) {
    let slash = quote - 1
    while (slash >= start && data.charCodeAt(slash) === 92) slash -= 1
    if ((quote - slash) % 2 === 1) return quote
    quote = data.indexOf('"', quote + 1)
  }
  return -1
}

function stringOf(data: string, start: number, close: number): string | undefined {
  const text = data.slice(start, close)
  if (!text.includes('\\')) return text
  try {
    return String(JSON.parse(`"${text}"`))
  } catch {
    return undefined
  }
}

/** Padding is letters and digits, then the event ends as the known one did. */
function endsAfterPadding(data: string, start: number, end: string): boolean {
  const quote = data.indexOf('"', start)
  return quote >= 0 && data.slice(quote) === end
}
