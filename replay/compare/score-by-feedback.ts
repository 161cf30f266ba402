// Scores recorded episodes by what was said about them: one feedback is the score.
import type { Episode } from '@homeground/sdk/trace'
import type { Outcome } from './types.ts'

/** true is 1, false is 0; held to [0, 1]. Episodes without it, or with words, have no score. */
export function scoreByFeedback(name: string): (episode: Episode) => Promise<Pick<Outcome, 'score' | 'scores'>> {
  return async (episode) => {
    const said = episode.feedback.findLast((item) => item.name === name && item.stepId === undefined)
    const number = said === undefined || typeof said.value === 'string' ? null : Math.min(1, Math.max(0, Number(said.value)))
    const reason = said === undefined ? `no feedback named ${name}` : `${name} = ${said.value}, by ${said.source}`
    return { score: number, scores: { [name]: { value: number, weight: 1, reason } } }
  }
}
