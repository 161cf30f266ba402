// The player: an agent that asks its model for one guess after another, until the word is found, the guesses are used up, or the model makes none.
import type { Homeground } from '@homeground/sdk'
import type OpenAI from 'openai'
import { z } from 'zod'
import { type Game, guessesAllowed, newGame, words } from './game.ts'

export interface Puzzle {
  hidden: string
}

export interface Played {
  solved: boolean
  guesses: number
  /** Every guess was one of the words. */
  fair: boolean
}

export interface PlayerParts {
  hg: Homeground
  client: OpenAI
  model: string
}

const rules = `Find the hidden word in ${guessesAllowed} guesses. Words: ${words.join(' ')}. G: right place, Y: other place, -: not in it.`

export function createPlayer({ hg, client, model }: PlayerParts): (puzzle: Puzzle) => Promise<Played> {
  const guess = hg.tool({
    name: 'guess',
    description: 'Guesses a word',
    parameters: z.object({ word: z.string() }),
    effect: 'none',
    execute: async ({ word }, game: Game) => game.guess(word),
  })

  const play = async ({ hidden }: Puzzle): Promise<Played> => {
    const game = newGame(hidden)
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'system', content: rules },
      { role: 'user', content: 'Play.' },
    ]
    while (!game.over) {
      const completion = await client.chat.completions.create({ model, messages, tools: hg.toolDefinitions() })
      const reply = completion.choices[0]?.message
      const call = reply?.tool_calls?.[0]
      if (reply === undefined || call === undefined) break
      const { content } = await guess.call(call, game)
      messages.push({ ...reply, tool_calls: [call] }, { role: 'tool', tool_call_id: call.id, content })
      // A call that is no guess (another tool, no word) ends the game.
      if (game.guesses.length * 2 + 2 !== messages.length) break
    }
    return { solved: game.solved, guesses: game.guesses.length, fair: game.guesses.length > 0 && game.guesses.every(isWord) }
  }

  return hg.agent('wordle-mini', play)
}

function isWord(guess: string): boolean {
  return words.some((word) => word === guess)
}
