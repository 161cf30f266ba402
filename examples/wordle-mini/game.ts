// The game: one of ten words is hidden, and three guesses find it or do not. Knows nothing of models.

export const words = ['rat', 'art', 'tar', 'car', 'act', 'bat', 'tap', 'rag', 'bed', 'ace'] as const

export const guessesAllowed = 3

/** One sign a letter: G in its place, Y elsewhere in the word, - not in it (or not so often). */
export function mark(hidden: string, guess: string): string {
  const letters = [...guess.slice(0, hidden.length).padEnd(hidden.length)]
  const left = [...hidden].filter((letter, place) => letter !== letters[place])
  const signs = letters.map((letter, place) => {
    if (letter === hidden[place]) return 'G'
    const at = left.indexOf(letter)
    if (at < 0) return '-'
    left.splice(at, 1)
    return 'Y'
  })
  return signs.join('')
}

export interface Game {
  guess(word: string): string
  readonly solved: boolean
  readonly guesses: readonly string[]
  readonly over: boolean
}

export function newGame(hidden: string): Game {
  const guesses: string[] = []
  return {
    guess(word) {
      guesses.push(word)
      return mark(hidden, word)
    },
    get solved() {
      return guesses.includes(hidden)
    },
    guesses,
    get over() {
      return guesses.includes(hidden) || guesses.length >= guessesAllowed
    },
  }
}
