// Request parameters of one dialect in the words of another. What has no word there is named, never dropped in silence.
import { asArray, asNumber, asObject, asText, type Json } from '@homeground/sdk/trace'

export interface Translated {
  parameters: { [key: string]: Json }
  /** Names of the parameters that the other dialect cannot say. */
  untranslated: string[]
}

type Parameters = Readonly<Record<string, Json>>

/** What the three dialects share, under one name each. */
interface Common {
  maxTokens?: number
  temperature?: number
  topP?: number
  stop?: string[]
  toolChoice?: { kind: 'auto' | 'none' | 'any' } | { kind: 'tool'; name: string }
  parallelTools?: boolean
  /** minimal, low, medium, high */
  effort?: string
  /** Tokens that the model may think for (Anthropic). */
  thinkingTokens?: number
  format?: { kind: 'json' } | { kind: 'schema'; name: string; schema: Json; strict: boolean | undefined }
}

/** Say nothing about the answer: storage, caching, billing, tracing. */
const harmless = new Set([
  'stream',
  'stream_options',
  'store',
  'metadata',
  'user',
  'service_tier',
  'prompt_cache_key',
  'safety_identifier',
  'include',
  'truncation',
  'previous_response_id',
])

export function translateParameters(parameters: Parameters, from: string, to: string): Translated {
  if (from === to) return { parameters: { ...parameters }, untranslated: [] }
  const { common, rest } = from === 'anthropic.messages' ? readAnthropic(parameters) : readOpenAi(parameters, from)
  const written = to === 'anthropic.messages' ? writeAnthropic(common) : writeOpenAi(common, to)
  return { parameters: written.parameters, untranslated: [...rest.filter((name) => !harmless.has(name)), ...written.untranslated] }
}

function readOpenAi(parameters: Parameters, api: string): { common: Common; rest: string[] } {
  const { max_tokens, max_completion_tokens, max_output_tokens, temperature, top_p, stop, tool_choice, parallel_tool_calls, ...others } =
    parameters
  const { reasoning_effort, reasoning, response_format, text, ...rest } = others
  const format = asObject(api === 'openai.chat' ? response_format : asObject(text)?.['format'])
  const common: Common = {
    ...optional('maxTokens', asNumber(max_completion_tokens) ?? asNumber(max_tokens) ?? asNumber(max_output_tokens)),
    ...optional('temperature', asNumber(temperature)),
    ...optional('topP', asNumber(top_p)),
    ...optional('stop', typeof stop === 'string' ? [stop] : Array.isArray(stop) ? stop.flatMap((each) => asText(each) ?? []) : undefined),
    ...optional('toolChoice', openAiChoice(tool_choice)),
    ...optional('parallelTools', typeof parallel_tool_calls === 'boolean' ? parallel_tool_calls : undefined),
    ...optional('effort', asText(reasoning_effort) ?? asText(asObject(reasoning)?.['effort'])),
    ...optional('format', format === undefined ? undefined : openAiFormat(format)),
  }
  return { common, rest: Object.keys(rest) }
}

function openAiChoice(choice: Json | undefined): Common['toolChoice'] {
  if (choice === 'auto' || choice === 'none') return { kind: choice }
  if (choice === 'required') return { kind: 'any' }
  const name = asText(asObject(asObject(choice)?.['function'])?.['name']) ?? asText(asObject(choice)?.['name'])
  return name === undefined ? undefined : { kind: 'tool', name }
}

function openAiFormat(format: { [key: string]: Json }): Common['format'] {
  if (format['type'] === 'json_object') return { kind: 'json' }
  if (format['type'] !== 'json_schema') return undefined
  const inner = asObject(format['json_schema']) ?? format
  return {
    kind: 'schema',
    name: asText(inner['name']) ?? 'answer',
    schema: inner['schema'] ?? {},
    strict: typeof inner['strict'] === 'boolean' ? inner['strict'] : undefined,
  }
}

function writeOpenAi(common: Common, api: string): Translated {
  const { maxTokens, temperature, topP, stop, toolChoice, parallelTools, effort, format, thinkingTokens } = common
  const chat = api === 'openai.chat'
  const untranslated: string[] = []
  const reasoning = effort ?? (thinkingTokens === undefined ? undefined : effortOf(thinkingTokens))
  if (stop !== undefined && !chat) untranslated.push('stop')
  const parameters: { [key: string]: Json } = {
    ...optional(chat ? 'max_completion_tokens' : 'max_output_tokens', maxTokens),
    ...optional('temperature', temperature),
    ...optional('top_p', topP),
    ...(chat ? optional('stop', stop) : {}),
    ...optional('tool_choice', toolChoice === undefined ? undefined : writeOpenAiChoice(toolChoice, chat)),
    ...optional('parallel_tool_calls', parallelTools),
    ...(reasoning === undefined ? {} : chat ? { reasoning_effort: reasoning } : { reasoning: { effort: reasoning } }),
    ...(format === undefined ? {} : chat ? { response_format: chatFormat(format) } : { text: { format: responsesFormat(format) } }),
  }
  return { parameters, untranslated }
}

function writeOpenAiChoice(choice: NonNullable<Common['toolChoice']>, chat: boolean): Json {
  if (choice.kind === 'tool') return chat ? { type: 'function', function: { name: choice.name } } : { type: 'function', name: choice.name }
  return choice.kind === 'any' ? 'required' : choice.kind
}

function chatFormat(format: NonNullable<Common['format']>): Json {
  if (format.kind === 'json') return { type: 'json_object' }
  return { type: 'json_schema', json_schema: { name: format.name, schema: format.schema, ...optional('strict', format.strict) } }
}

function responsesFormat(format: NonNullable<Common['format']>): Json {
  if (format.kind === 'json') return { type: 'json_object' }
  return { type: 'json_schema', name: format.name, schema: format.schema, ...optional('strict', format.strict) }
}

function readAnthropic(parameters: Parameters): { common: Common; rest: string[] } {
  const { max_tokens, temperature, top_p, stop_sequences, tool_choice, thinking, ...rest } = parameters
  const choice = asObject(tool_choice)
  const kind = asText(choice?.['type'])
  const name = asText(choice?.['name'])
  const alone = choice?.['disable_parallel_tool_use']
  const thinks = asObject(thinking)
  const common: Common = {
    ...optional('maxTokens', asNumber(max_tokens)),
    ...optional('temperature', asNumber(temperature)),
    ...optional('topP', asNumber(top_p)),
    ...optional('stop', Array.isArray(stop_sequences) ? asArray(stop_sequences).flatMap((each) => asText(each) ?? []) : undefined),
    ...optional(
      'toolChoice',
      kind === 'auto' || kind === 'none' || kind === 'any' ? { kind } : name === undefined ? undefined : { kind: 'tool' as const, name },
    ),
    ...optional('parallelTools', typeof alone === 'boolean' ? !alone : undefined),
    ...optional('thinkingTokens', thinks?.['type'] === 'enabled' ? asNumber(thinks['budget_tokens']) : undefined),
  }
  return { common, rest: Object.keys(rest) }
}

/** The Messages API requires a limit. */
const defaultMaxTokens = 4_096

function writeAnthropic(common: Common): Translated {
  const { maxTokens, temperature, topP, stop, toolChoice, parallelTools, effort, format } = common
  const untranslated: string[] = []
  if (format !== undefined) untranslated.push('response_format')
  const budget = effort === undefined ? undefined : budgetOf(effort)
  const choice = toolChoice ?? (parallelTools === false ? { kind: 'auto' as const } : undefined)
  const parameters: { [key: string]: Json } = {
    max_tokens: (maxTokens ?? defaultMaxTokens) + (budget ?? 0),
    // Its range ends at 1; with thinking only 1 is allowed.
    ...(budget === undefined ? optional('temperature', temperature === undefined ? undefined : Math.min(1, temperature)) : {}),
    ...(budget === undefined ? optional('top_p', topP) : {}),
    ...optional('stop_sequences', stop),
    ...(choice === undefined
      ? {}
      : {
          tool_choice: {
            ...(choice.kind === 'tool' ? { type: 'tool', name: choice.name } : { type: choice.kind }),
            ...(parallelTools === false && choice.kind !== 'none' ? { disable_parallel_tool_use: true } : {}),
          },
        }),
    ...(budget === undefined ? {} : { thinking: { type: 'enabled', budget_tokens: budget } }),
  }
  if (temperature !== undefined && temperature > 1) untranslated.push('temperature above 1')
  return { parameters, untranslated }
}

function budgetOf(effort: string): number | undefined {
  return { low: 1_024, medium: 4_096, high: 16_384 }[effort]
}

function effortOf(tokens: number): string {
  return tokens < 2_048 ? 'low' : tokens < 8_192 ? 'medium' : 'high'
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  const entry: { [K in Key]?: Value } = {}
  if (value !== undefined) entry[key] = value
  return entry
}
