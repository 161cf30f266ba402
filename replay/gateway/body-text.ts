// The JSON text of a request body. A conversation and its tools go out again with each call, so the text of each message and definition is kept as long as it lives.
import type { Json } from '@homeground/sdk/trace'

const texts = new WeakMap<object, string>()

/** What `JSON.stringify` gives. The members of the body's lists must not be changed afterwards. */
export function bodyText(body: { readonly [key: string]: Json }): string {
  const members = Object.entries(body).map(
    ([name, value]) => `${JSON.stringify(name)}:${Array.isArray(value) ? `[${value.map(itemText).join(',')}]` : JSON.stringify(value)}`,
  )
  return `{${members.join(',')}}`
}

function itemText(item: Json): string {
  if (typeof item !== 'object' || item === null) return JSON.stringify(item)
  const before = texts.get(item)
  if (before !== undefined) return before
  const text = JSON.stringify(item)
  texts.set(item, text)
  return text
}
