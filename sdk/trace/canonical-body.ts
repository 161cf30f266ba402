// A body that holds the canonical form itself: how rows keep an episode whose own bodies are not there (`rowsOfEpisode`). Read laxly, since anybody can send a span
// with such a body: what has not the form is left out.
import type { Json, Message, ModelCall, ModelRequest, ModelResponse, ProviderExtra, ToolDefinition, Usage } from './episode.ts'
import { asArray, asNumber, asObject, asText } from './json.ts'
import { partOfFields } from './part.ts'

type Fields = { [key: string]: Json }

/** The one field of such a body. */
export const canonicalBody = 'homeground.canonical'

export function canonicalRequest(kept: Fields): ModelRequest & { model: string } {
  return {
    model: asText(kept['model']) ?? '',
    messages: messagesOf(kept['messages']),
    tools: objectsOf(kept['tools']).flatMap((tool): ToolDefinition[] => {
      const name = asText(tool['name'])
      return name === undefined ? [] : [{ ...withoutOdd(tool, ['type', 'description'], asText), name }]
    }),
    parameters: asObject(kept['parameters']) ?? {},
  }
}

export function canonicalResponse(kept: Fields): { response?: ModelResponse; tokens?: NonNullable<ModelCall['tokens']> } {
  const response = asObject(kept['response'])
  const tokens = asObject(kept['tokens'])
  const logprobs = tokens?.['logprobs']
  return {
    ...(response === undefined ? {} : { response: responseOf(response) }),
    ...(tokens === undefined
      ? {}
      : {
          tokens: {
            promptIds: numbersOf(tokens['promptIds']),
            completionIds: numbersOf(tokens['completionIds']),
            ...(logprobs === undefined ? {} : { logprobs: numbersOf(logprobs) }),
          },
        }),
  }
}

function responseOf(kept: Fields): ModelResponse {
  const { model, id } = kept
  return {
    ...(typeof model === 'string' ? { model } : {}),
    ...(typeof id === 'string' ? { id } : {}),
    outputs: messagesOf(kept['outputs']),
    finishReasons: asArray(kept['finishReasons']).map((reason) => asText(reason) ?? 'error'),
    usage: usageOf(asObject(kept['usage']) ?? {}),
  }
}

function usageOf(kept: Fields): Usage {
  const usage: Usage = {}
  for (const name of ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const) {
    const count = asNumber(kept[name])
    if (count !== undefined) usage[name] = count
  }
  return usage
}

function messagesOf(kept: Json | undefined): Message[] {
  return objectsOf(kept).map((message) => {
    const name = asText(message['name'])
    const provider = providerOf(message['provider'])
    return {
      role: asText(message['role']) || 'unknown',
      ...(name === undefined ? {} : { name }),
      parts: objectsOf(message['parts']).map(partOfFields),
      ...(provider === undefined ? {} : { provider }),
    }
  })
}

function providerOf(kept: Json | undefined): ProviderExtra | undefined {
  const fields = asObject(kept)
  const name = asText(fields?.['name'])
  return name === undefined ? undefined : { ...fields, name }
}

function objectsOf(kept: Json | undefined): Fields[] {
  return asArray(kept).flatMap((each): Fields[] => {
    const fields = asObject(each)
    return fields === undefined ? [] : [fields]
  })
}

function numbersOf(kept: Json | undefined): number[] {
  return asArray(kept).filter((each) => typeof each === 'number')
}

/** The fields without those of `names` that are not what `read` reads. */
function withoutOdd(fields: Fields, names: readonly string[], read: (value: Json | undefined) => unknown): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key, value]) => !names.includes(key) || read(value) !== undefined))
}
