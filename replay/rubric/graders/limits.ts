// `cost`, `latency`, `steps`: 1 within the limit, 0 above it.
import type { CriterionOf, Grader } from '../types.ts'

/** `max` in US dollars. Null where a price or a token count is not known. */
export const cost: Grader<CriterionOf<'cost'>> = ({ criterion, costUsd }) => {
  if (costUsd === undefined)
    return { value: null, weight: criterion.weight, reason: 'the cost is not known: no price for the model, or no token counts' }
  return within(costUsd, criterion, (value) => `${value.toPrecision(3)} USD`)
}

/** `max` in milliseconds, over the whole episode. */
export const latency: Grader<CriterionOf<'latency'>> = ({ criterion, episode }) =>
  within(episode.durationMs, criterion, (value) => `${Math.round(value)} ms`)

/** `max` model and tool calls, sub-agents' included. */
export const steps: Grader<CriterionOf<'steps'>> = ({ criterion, episode }) =>
  within(episode.steps.filter((step) => step.kind === 'model' || step.kind === 'tool').length, criterion, (value) => `${value} steps`)

function within(value: number, { max, weight }: { max: number; weight: number }, shown: (value: number) => string) {
  return { value: value <= max ? 1 : 0, weight, reason: `${shown(value)}, limit ${shown(max)}` }
}
