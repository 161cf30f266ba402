// Arbitrary canonical parts that every wire can say; each dialect's test adds its own.
import type { Json, Part } from '@homeground/sdk/trace'
import fc from 'fast-check'
import { anyJson } from '../episode-fixtures.ts'

export const throughJson = (value: unknown): Json => JSON.parse(JSON.stringify(value))
/** Not empty, and no id that a writer makes up itself. */
export const word = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => !/_hg\d+$/.test(text))
export const optional = <T>(value: fc.Arbitrary<T>) => fc.array(value, { maxLength: 1 })
/** A string would be JSON text once more: that is what the wires say, and what reads back. */
export const anyArguments = anyJson.filter((value) => value !== '')

export const plainText: fc.Arbitrary<Part> = fc.record({ type: fc.constant('text' as const), content: word })
export const anyImage: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ type: fc.constant('uri' as const), modality: fc.constant('image'), uri: fc.webUrl() }),
  fc.record({
    type: fc.constant('blob' as const),
    modality: fc.constant('image'),
    mime_type: fc.constant('image/png'),
    content: fc.base64String(),
  }),
)
export const plainCall: fc.Arbitrary<Part> = fc.record({
  type: fc.constant('tool_call' as const),
  id: word,
  name: word,
  arguments: anyArguments,
})
export const plainResult: fc.Arbitrary<Part> = fc.record({
  type: fc.constant('tool_call_response' as const),
  id: word,
  response: fc.string(),
})
export const anyUsage = fc
  .record(
    { inputTokens: fc.nat(), outputTokens: fc.nat(), cacheReadTokens: fc.nat(), cacheWriteTokens: fc.nat(), reasoningTokens: fc.nat() },
    { requiredKeys: [] },
  )
  // Input includes what was read from and written to the cache.
  .map(({ inputTokens, ...usage }) =>
    inputTokens === undefined
      ? usage
      : { ...usage, inputTokens: inputTokens + (usage.cacheReadTokens ?? 0) + (usage.cacheWriteTokens ?? 0) },
  )
