// Episodes for tests: one written out, and arbitraries for properties.
import type { Episode, Json, Message, ModelCall, Part, Step } from '@homeground/sdk/trace'
import fc from 'fast-check'

export const trace = 'a'.repeat(32)
export const at = '2026-01-31T12:00:00.000Z'

export function text(role: string, content: string): Message {
  return { role, parts: [{ type: 'text', content }] }
}

export function modelCall(id: string, messages: Message[], outputs: Message[], extra: Partial<ModelCall> = {}): ModelCall {
  return {
    kind: 'model',
    id,
    startedAt: at,
    durationMs: 5,
    api: 'openai.chat',
    provider: 'openai',
    model: 'gpt-4o',
    request: { messages, tools: [], parameters: {} },
    response: { outputs, finishReasons: outputs.map(() => 'stop'), usage: {} },
    ...extra,
  }
}

export function episode(steps: Step[], extra: Partial<Episode> = {}): Episode {
  return {
    format: 1,
    id: trace,
    trace,
    project: 'shop',
    tags: {},
    startedAt: at,
    durationMs: 20,
    steps,
    feedback: [],
    source: { kind: 'trace' },
    ...extra,
  }
}

/** A copy through JSON text, since JSON is what files hold: -0 is 0 there. */
const throughJson = (value: unknown): Json => JSON.parse(JSON.stringify(value))

export const anyJson: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 3 }).map(throughJson)

const anyPart: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), content: fc.string() }),
  fc.record({ type: fc.constant('reasoning' as const), content: fc.string() }),
  fc.record(
    { type: fc.constant('tool_call' as const), id: fc.string(), name: fc.string(), arguments: anyJson },
    { requiredKeys: ['type', 'name', 'arguments'] },
  ),
  fc.record({ type: fc.constant('tool_call_response' as const), id: fc.string(), response: anyJson }),
  fc.record({ type: fc.constant('blob' as const), mime_type: fc.string(), invented: anyJson }),
)

export const anyMessage: fc.Arbitrary<Message> = fc.record({
  role: fc.constantFrom('system', 'user', 'assistant', 'tool'),
  parts: fc.array(anyPart, { maxLength: 3 }),
})

/** Episodes whose calls share beginnings as real ones do: each goes on from a random cut of an earlier history, or starts anew. */
export const anyEpisode: fc.Arbitrary<Episode> = fc
  .array(
    fc.record({
      from: fc.nat(),
      cut: fc.nat(),
      fresh: fc.array(anyMessage, { maxLength: 3 }),
      outputs: fc.array(anyMessage, { maxLength: 2 }),
      chosen: fc.constantFrom(undefined, 1),
      answered: fc.boolean(),
      id: fc.integer({ min: 1, max: 12 }),
    }),
    { maxLength: 8 },
  )
  .map((plans) => {
    const histories: Message[][] = [[]]
    const steps = plans.map(({ from, cut, fresh, outputs, chosen, answered, id }) => {
      const earlier = histories[from % histories.length] ?? []
      const messages = [...earlier.slice(0, cut % (earlier.length + 1)), ...fresh]
      const { response, ...call } = modelCall(id.toString(16).padStart(16, '0'), messages, outputs, chosen === undefined ? {} : { chosen })
      const output = outputs[chosen ?? 0]
      histories.push(answered && output !== undefined ? [...messages, output] : messages)
      return answered && response !== undefined ? { ...call, response } : call
    })
    return episode(steps)
  })
