// Episodes and tasks for grader tests: only what a test says, the rest filled in.
import type { Effect, Episode, Json, ModelCall, Part, Step } from '@homeground/sdk/trace'
import type { Reference, Task } from '../../../replay/environment/types.ts'

const at = '2026-01-01T00:00:00.000Z'

export function sampleEpisode(parts: Partial<Episode> = {}): Episode {
  return {
    format: 1,
    id: 'a'.repeat(32),
    trace: 'a'.repeat(32),
    project: 'test',
    tags: {},
    startedAt: at,
    durationMs: 1000,
    steps: [],
    feedback: [],
    source: { kind: 'trace' },
    ...parts,
  }
}

export function sampleTask(reference?: Reference): Task {
  return {
    id: 't1',
    hash: '0'.repeat(64),
    split: 'test',
    session: 's1',
    ...(reference && { reference }),
    tags: {},
    source: { trace: 'a'.repeat(32) },
  }
}

export function toolStep(name: string, args: Json, more: { result?: Json; effect?: Effect; error?: string; parent?: string } = {}): Step {
  return {
    kind: 'tool',
    id: 'b'.repeat(16),
    startedAt: at,
    durationMs: 1,
    name,
    arguments: args,
    effect: more.effect ?? 'write',
    ...(more.result !== undefined && { result: more.result }),
    ...(more.error !== undefined && { error: { type: 'Error', message: more.error } }),
    ...(more.parent !== undefined && { parent: more.parent }),
  }
}

/** A model call that answered with a text, or with the parts given. */
export function modelStep(answer: string | Part[], more: Partial<ModelCall> = {}): ModelCall {
  return {
    kind: 'model',
    id: 'c'.repeat(16),
    startedAt: at,
    durationMs: 1,
    api: 'openai.chat',
    provider: 'openai',
    model: 'gpt-4o',
    request: { messages: [{ role: 'user', parts: [{ type: 'text', content: 'hello' }] }], tools: [], parameters: {} },
    response: {
      outputs: [{ role: 'assistant', parts: typeof answer === 'string' ? [{ type: 'text', content: answer }] : answer }],
      finishReasons: ['stop'],
      usage: {},
    },
    ...more,
  }
}
