// What an iterator has yielded, as far as it is recorded.

/** Items that are kept, and text: the rest is counted. */
const mostItems = 10_000
const mostTexts = 200_000
const mostCharacters = 4 * 1024 * 1024

export class Yielded {
  private readonly items: unknown[] = []
  private isText = true
  private characters = 0
  private more = 0

  add(item: unknown): void {
    if (typeof item === 'string') this.characters += item.length
    else this.isText = false
    if (this.characters > mostCharacters || this.items.length >= (this.isText ? mostTexts : mostItems)) this.more += 1
    else this.items.push(item)
  }

  /** Text joined; anything else as a list, which says how many are left out. */
  value(): unknown {
    const rest = this.more === 0 ? [] : [`[${this.more} more]`]
    const all = [...this.items, ...rest]
    return this.isText ? all.join('') : all
  }
}
