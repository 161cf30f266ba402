// A request of one dialect for a model that speaks another: parameters are renamed where the other wire can say the same, and left out where it cannot. What the product's
// provider added to parts is left out by the writer.
import type { Json } from '../episode.ts'
import { asObject, asText } from '../json.ts'
import type { CanonicalRequest } from './dialect.ts'

type Fields = { [key: string]: Json }

/** What a parameter means, whatever the wire calls it. */
interface Meaning {
  maxTokens?: Json
  temperature?: Json
  topP?: Json
  stop?: Json[]
  seed?: Json
  stream?: Json
  toolChoice?: { mode: 'auto' | 'none' | 'required' } | { mode: 'tool'; name: string }
  parallelToolCalls?: boolean
  format?: Fields
  effort?: Json
}

/** Anthropic wants a limit; where the product gave none it is this. */
const defaultMaxTokens = 4096

/** The same request where the dialects are the same. */
export function translateRequest(request: CanonicalRequest, from: string, to: string): CanonicalRequest {
  if (from === to) return request
  const meaning = { ...meaningOf(request.parameters, from) }
  return { ...request, parameters: writers[to]?.(meaning) ?? request.parameters }
}

function meaningOf(parameters: Fields, from: string): Meaning {
  const { temperature, top_p, seed, stream } = parameters
  const choice = toolChoice(parameters['tool_choice'])
  const parallel =
    from === 'anthropic.messages'
      ? negated(asObject(parameters['tool_choice'])?.['disable_parallel_tool_use'])
      : parameters['parallel_tool_calls']
  const stop = from === 'anthropic.messages' ? parameters['stop_sequences'] : parameters['stop']
  const format =
    from === 'openai.responses' ? asObject(asObject(parameters['text'])?.['format']) : chatFormat(parameters['response_format'])
  return {
    ...given('maxTokens', parameters['max_completion_tokens'] ?? parameters['max_output_tokens'] ?? parameters['max_tokens']),
    ...given('temperature', temperature),
    ...given('topP', top_p),
    ...given('seed', seed),
    ...given('stream', stream),
    ...(stop === undefined || stop === null ? {} : { stop: Array.isArray(stop) ? stop : [stop] }),
    ...(choice === undefined ? {} : { toolChoice: choice }),
    ...(typeof parallel === 'boolean' ? { parallelToolCalls: parallel } : {}),
    ...(format === undefined ? {} : { format }),
    ...given('effort', asObject(parameters['reasoning'])?.['effort'] ?? parameters['reasoning_effort']),
  }
}

const writers: Readonly<Record<string, (meaning: Meaning) => Fields>> = {
  'openai.chat': (meaning) => ({
    ...shared(meaning),
    ...given('max_completion_tokens', meaning.maxTokens),
    ...given('seed', meaning.seed),
    ...(meaning.stop === undefined ? {} : { stop: meaning.stop }),
    ...openaiChoice(meaning, (name) => ({ type: 'function', function: { name } })),
    ...(meaning.format === undefined ? {} : { response_format: nestedFormat(meaning.format) }),
    ...given('reasoning_effort', meaning.effort),
    ...(meaning.stream === true ? { stream_options: { include_usage: true } } : {}),
  }),
  'openai.responses': (meaning) => ({
    ...shared(meaning),
    ...given('max_output_tokens', meaning.maxTokens),
    ...openaiChoice(meaning, (name) => ({ type: 'function', name })),
    ...(meaning.format === undefined ? {} : { text: { format: meaning.format } }),
    ...(meaning.effort === undefined ? {} : { reasoning: { effort: meaning.effort } }),
  }),
  'anthropic.messages': (meaning) => ({
    ...shared(meaning),
    max_tokens: meaning.maxTokens ?? defaultMaxTokens,
    ...(meaning.stop === undefined ? {} : { stop_sequences: meaning.stop }),
    ...anthropicChoice(meaning),
  }),
}

function shared({ temperature, topP, stream }: Meaning): Fields {
  return { ...given('temperature', temperature), ...given('top_p', topP), ...given('stream', stream) }
}

function openaiChoice({ toolChoice: choice, parallelToolCalls }: Meaning, named: (name: string) => Json): Fields {
  return {
    ...(choice === undefined ? {} : { tool_choice: choice.mode === 'tool' ? named(choice.name) : choice.mode }),
    ...(parallelToolCalls === undefined ? {} : { parallel_tool_calls: parallelToolCalls }),
  }
}

function anthropicChoice({ toolChoice: choice, parallelToolCalls }: Meaning): Fields {
  if (choice === undefined && parallelToolCalls !== false) return {}
  const mode = choice?.mode ?? 'auto'
  const said: Fields =
    mode === 'tool' && choice?.mode === 'tool' ? { type: 'tool', name: choice.name } : { type: mode === 'required' ? 'any' : mode }
  return { tool_choice: { ...said, ...(parallelToolCalls === false && mode !== 'none' ? { disable_parallel_tool_use: true } : {}) } }
}

/** All three wires' ways to say it. */
function toolChoice(sent: Json | undefined): Meaning['toolChoice'] {
  const object = asObject(sent)
  const word = asText(sent) ?? asText(object?.['type'])
  if (word === 'auto' || word === 'none' || word === 'required') return { mode: word }
  if (word === 'any') return { mode: 'required' }
  const name = asText(object?.['name']) ?? asText(asObject(object?.['function'])?.['name'])
  return name === undefined ? undefined : { mode: 'tool', name }
}

/** `{ type: json_schema, json_schema: { name, schema } }` of chat, flat as Responses has it. */
function chatFormat(sent: Json | undefined): Fields | undefined {
  const format = asObject(sent)
  const schema = asObject(format?.['json_schema'])
  return format === undefined || schema === undefined ? format : { type: 'json_schema', ...schema }
}

function nestedFormat(format: Fields): Fields {
  const { type = 'text', ...schema } = format
  return type === 'json_schema' ? { type, json_schema: schema } : { type }
}

function negated(sent: Json | undefined): Json | undefined {
  return typeof sent === 'boolean' ? !sent : undefined
}

function given<Name extends string>(name: Name, value: Json | undefined): { [Key in Name]?: Json } {
  const fields: { [Key in Name]?: Json } = {}
  if (value !== undefined && value !== null) fields[name] = value
  return fields
}
