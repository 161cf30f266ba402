// A desk that says where things are: episodes of one look each, and a model that plays them as they were recorded.
import { type ModelServer, startModelServer } from '@homeground/sdk/testing'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { calls, episodeOf, result, text } from './episodes.ts'

/** An environment of `size` tasks. */
export async function buildThings(folder: string, size: number): Promise<void> {
  await buildEnvironment(
    Array.from({ length: size }, (_, index) => recordingOf(`thing${index}`)),
    { name: 'things', folder, homeground: '0.1.0', harness: { kind: 'loop', maxSteps: 4 } },
  )
}

function recordingOf(name: string) {
  return episodeOf(name, [
    text('user', `Where is ${name}?`),
    calls({ id: 'c1', name: 'look', arguments: { at: name } }),
    result('c1', `${name} is here`),
    text('assistant', 'Here.'),
  ])
}

/** Looks, then says what it found. `onRequest`: told of each request. */
export function startThingsModel(options: { delayMs: number; onRequest?: () => void }): Promise<ModelServer> {
  return startModelServer({
    delayMs: options.delayMs,
    policy: ({ body }) => {
      options.onRequest?.()
      const messages = body['messages'] as { role: string; content: string }[]
      if (messages.at(-1)?.role === 'tool') return `${messages.at(-1)?.content}.`
      return { toolCalls: [{ id: 'k', name: 'look', arguments: { at: /thing\d+/.exec(messages[0]?.content ?? '')?.[0] ?? '' } }] }
    },
  })
}
