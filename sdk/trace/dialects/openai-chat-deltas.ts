// How what one delta of a chat stream says joins what the deltas before it said. Servers differ: text grows, lists grow, and nothing that came is blanked out.
import type { Json } from '../episode.ts'
import { asArray, asObject, asText, parseJson } from '../json.ts'

type Fields = { [key: string]: Json }

/** A delta that names a function, for another id or with arguments of its own, where those of the call are whole. */
export function beginsAnother(call: Fields, delta: Fields): boolean {
  const now = asObject(delta['function'])
  if (isBlank(now?.['name'])) return false
  const known = asText(asObject(call['function'])?.['arguments'])
  if (known === undefined || asObject(parseJson(known)) === undefined) return false
  const [id, other] = [call['id'], delta['id']]
  return isBlank(id) || isBlank(other) ? !isBlank(now?.['arguments']) : id !== other
}

/** `arguments` and `input` grow; other fields keep the last value that says something. */
export function joinCall(call: Fields, delta: Fields): Fields {
  for (const [key, value] of Object.entries(delta)) {
    const inner = asObject(value)
    if (inner !== undefined && (key === 'function' || key === 'custom')) call[key] = joinCall(asObject(call[key]) ?? {}, inner)
    else if ((key === 'arguments' || key === 'input') && typeof value === 'string') call[key] = (asText(call[key]) ?? '') + value
    else if (!isBlank(value) || (value !== null && !(key in call))) call[key] = value
  }
  return call
}

/** `{ content: [...], refusal: [...] }`: lists are appended, null says nothing. */
export function joinLists(before: Json | undefined, now: Json): Json {
  const fields = asObject(now)
  if (fields === undefined) return before ?? now
  const joined: Fields = { ...asObject(before) }
  for (const [key, value] of Object.entries(fields)) {
    if (value !== null) joined[key] = append(joined[key], value)
    else if (!(key in joined)) joined[key] = null
  }
  return joined
}

/** A member of the message and what a delta adds to it. */
export function joined(key: string, before: Json | undefined, now: Json): Json {
  if (Array.isArray(now) || (key === 'content' && Array.isArray(before))) return joinChunks(chunksOf(before), chunksOf(now))
  if (key !== 'audio') return append(before, now)
  const [known, more] = [asObject(before), asObject(now)]
  return known !== undefined && more !== undefined ? joinAudio(known, more) : append(before, now)
}

/** What grows in a chunk of each type: of Mistral's content, of OpenRouter's `reasoning_details`, of LiteLLM's `thinking_blocks`. */
const growing: Readonly<Record<string, string>> = {
  text: 'text',
  thinking: 'thinking',
  'reasoning.text': 'text',
  'reasoning.summary': 'summary',
}

/** The first of a delta's chunks may go on with what the one before it left. In pieces, redaction would not find what two of them hold. */
function joinChunks(before: Json[], now: Json[]): Json[] {
  const [last, chunk] = [asObject(before.at(-1)), asObject(now[0])]
  const key = growing[asText(chunk?.['type']) ?? '']
  const goesOn = last?.['type'] === chunk?.['type'] && last?.['index'] === chunk?.['index']
  const taken = key !== undefined && last !== undefined && chunk !== undefined && goesOn
  if (taken) growChunk(last, chunk, key)
  for (const each of taken ? now.slice(1) : now) before.push(each)
  return before
}

function growChunk(chunk: Fields, more: Fields, key: string): void {
  for (const [name, value] of Object.entries(more)) {
    if (name === key) chunk[name] = joined(name, chunk[name], value)
    else if (!isBlank(value) || !(name in chunk)) chunk[name] = value
  }
}

function chunksOf(content: Json | undefined): Json[] {
  if (typeof content === 'string' && content !== '') return [{ type: 'text', text: content }]
  return asArray(content)
}

/** The sound comes in pieces, each base64 by itself. */
function joinAudio(before: Fields, { data, transcript, ...rest }: Fields): Fields {
  for (const [key, value] of Object.entries(rest)) if (!isBlank(value) || !(key in before)) before[key] = value
  if (transcript !== undefined) before['transcript'] = append(before['transcript'], transcript)
  if (data !== undefined) before['data'] = joinBase64(before['data'], data)
  return before
}

function joinBase64(before: Json | undefined, now: Json): Json {
  if (typeof before !== 'string' || typeof now !== 'string' || !before.endsWith('=')) return append(before, now)
  return Buffer.concat([Buffer.from(before, 'base64'), Buffer.from(now, 'base64')]).toString('base64')
}

/** Strings and lists grow; anything else is replaced, unless by a blank. */
export function append(before: Json | undefined, now: Json): Json {
  if (typeof before === 'string' && typeof now === 'string') return before + now
  if (Array.isArray(before) && Array.isArray(now)) {
    for (const value of now) before.push(value)
    return before
  }
  return before !== undefined && before !== null && isBlank(now) ? before : now
}

export function isBlank(value: Json | undefined): value is null | '' | 0 | undefined {
  return value === undefined || value === null || value === '' || value === 0
}
