// The first characters of what went in and what came out, for lists. Found by looking for a few keys, not by parsing: bodies are large and rows many.
import type { SpanRow } from '@homeground/sdk/trace'

const previewLength = 120

/** Agents: their input and output. Model calls: what the user said last, where the call answers that and not a tool, and the answer. Others: none. */
export function previews(row: SpanRow): { input: string; output: string } {
  switch (row.kind) {
    case 'agent':
      return { input: ofJson(row.input), output: ofJson(row.output) }
    case 'model':
      return { input: lastUserText(row.requestBody), output: textAfter(row.responseBody, 0) }
    default:
      return { input: '', output: '' }
  }
}

/** A JSON text as a person would read it: a string without its quotes, else the text. */
function ofJson(json: string): string {
  return json.startsWith('"') ? unescaped(json, 1) : cut(json)
}

function lastUserText(json: string): string {
  const user = json.lastIndexOf('"role":"user"')
  return json.lastIndexOf('"role":"tool"') > user ? '' : textAfter(json, user)
}

/** The first `"content":"…"` or `"text":"…"` at or after `from`. */
function textAfter(json: string, from: number): string {
  if (from < 0) return ''
  const found = ['"content":"', '"text":"'].map((key) => ({ key, at: json.indexOf(key, from) })).filter(({ at }) => at >= 0)
  found.sort((a, b) => a.at - b.at)
  return found[0] === undefined ? '' : unescaped(json, found[0].at + found[0].key.length)
}

/** The JSON string whose first character stands at `from`, as far as a preview goes. */
function unescaped(json: string, from: number): string {
  // An escape is at most 6 characters (\\u0041).
  const piece = json.slice(from, from + previewLength * 6)
  const end = /^(?:[^"\\]|\\(?:u[0-9a-fA-F]{4}|[^u]))*/.exec(piece)?.[0] ?? ''
  try {
    return cut(String(JSON.parse(`"${end}"`)))
  } catch {
    return cut(end)
  }
}

function cut(text: string): string {
  return text.length <= previewLength ? text : `${text.slice(0, previewLength - 1)}…`
}
