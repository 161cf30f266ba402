// The JSON text of request bodies. A conversation and its tools go out again with each call, so the text of each message and definition is kept as long as it lives.
import type { Json } from '@homeground/sdk/trace'

/**
 * Gives what `JSON.stringify` gives. One for each rollout: what it keeps goes with it. (Of one for all, V8 carried every text into the old generation.)
 * The members of a body's lists must not be changed afterwards.
 */
export function bodyWriter(): (body: { readonly [key: string]: Json }) => string {
  const texts = new WeakMap<object, string>()
  const itemText = (item: Json): string => {
    if (typeof item !== 'object' || item === null) return JSON.stringify(item)
    const before = texts.get(item)
    if (before !== undefined) return before
    const text = JSON.stringify(item)
    texts.set(item, text)
    return text
  }
  return (body) => {
    const members = Object.entries(body).map(
      ([name, value]) => `${JSON.stringify(name)}:${Array.isArray(value) ? `[${value.map(itemText).join(',')}]` : JSON.stringify(value)}`,
    )
    return `{${members.join(',')}}`
  }
}
