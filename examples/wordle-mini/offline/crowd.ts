// Who played the game before there was a trained model: a crowd behind an OpenAI-compatible address. Some think, most do not.
import { type ModelAnswer, type ModelServer, type RecordedRequest, startModelServer } from '@homeground/sdk/testing'
import { z } from 'zod'
import { mark, words } from '../game.ts'

/** Thinkers begin with it: its marks tell all ten words apart. */
const opening = 'rat'

const nonsense = ['aaa', 'xyz', 'foo', 'qqq', 'zzz', 'lol']

/** Serves `crowd` (any player), `thinker` and `guesser`. The same seed and order of requests gives the same answers. `port`: 0 takes a free one. */
export function startCrowd(options: { port?: number; seed?: number } = {}): Promise<ModelServer> {
  let state = options.seed ?? 1
  const random = (): number => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
  return startModelServer({ policy: (request) => answer(request, random), port: options.port ?? 0 })
}

function answer({ body }: RecordedRequest, random: () => number): ModelAnswer {
  const seen = readGuesses(body)
  const thinks =
    body['model'] === 'thinker' || (body['model'] === 'crowd' && (seen.length === 0 ? random() < 0.5 : seen[0]?.word === opening))
  if (!thinks && seen.length > 0 && random() < 0.2) return 'No idea.'
  const word = thinks ? wordThatFits(seen) : guessed(random)
  return { content: null, toolCalls: [{ name: 'guess', arguments: { word } }] }
}

interface Guess {
  word: string
  marks: string
}

function wordThatFits(seen: readonly Guess[]): string {
  if (seen.length === 0) return opening
  return words.find((word) => seen.every((guess) => mark(word, guess.word) === guess.marks)) ?? opening
}

/** Half of the time no word of the list at all; never a thinker's opening. */
function guessed(random: () => number): string {
  const from = random() < 0.5 ? nonsense : words.filter((word) => word !== opening)
  return from[Math.floor(random() * from.length)] ?? 'foo'
}

const requestSchema = z.looseObject({
  messages: z.array(
    z.looseObject({
      role: z.string(),
      content: z.unknown(),
      tool_calls: z.array(z.looseObject({ function: z.looseObject({ arguments: z.string() }) })).optional(),
    }),
  ),
})

function readGuesses(body: unknown): Guess[] {
  const { messages } = requestSchema.parse(body)
  const guesses: Guess[] = []
  for (const [at, message] of messages.entries()) {
    const asked = message.tool_calls?.[0]
    const marks = messages[at + 1]?.content
    if (asked !== undefined && typeof marks === 'string') {
      guesses.push({
        word: z.object({ word: z.string() }).parse(JSON.parse(asked.function.arguments)).word,
        marks: marks.replaceAll('"', ''),
      })
    }
  }
  return guesses
}
