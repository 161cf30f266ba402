// What episodes are told apart by where a selection is stratified: a tag, how they ended, the tools they used, their models.
import { type Episode, HomegroundError, referenceFeedback } from '@homeground/sdk/trace'

/** Names of the ways to tell episodes apart, for messages. */
export const stratumNames = 'tags.NAME, feedback.NAME, outcome, tool, model and agent'

/**
 * One of `tags.NAME`, `feedback.NAME` (its last value), `outcome` (error, good, bad or unknown), `tool` (all that were used), `model` (all that were asked), `agent`.
 * @throws HomegroundError invalid-argument: another name
 */
export function stratumOf(name: string): (episode: Episode) => string {
  if (name.startsWith('tags.') && name.length > 5) return ({ tags }) => tags[name.slice(5)] ?? none
  if (name.startsWith('feedback.') && name.length > 9) return (episode) => lastSaid(episode, name.slice(9)) ?? none
  switch (name) {
    case 'outcome':
      return outcomeOf
    case 'tool':
      return ({ steps }) => listed(steps.flatMap((step) => (step.kind === 'tool' ? [step.name] : [])))
    case 'model':
      return ({ steps }) => listed(steps.flatMap((step) => (step.kind === 'model' ? [step.model] : [])))
    case 'agent':
      return ({ agent }) => agent?.name ?? none
    default:
      throw new HomegroundError('invalid-argument', `episodes cannot be stratified by ${name}`, { hint: `use ${stratumNames}` })
  }
}

const none = 'none'

function listed(names: readonly string[]): string {
  return [...new Set(names)].sort().join('+') || none
}

function lastSaid({ feedback }: Episode, name: string): string | undefined {
  const said = feedback.filter((each) => each.name === name).at(-1)
  return said === undefined ? undefined : String(said.value)
}

/** An error is one; else what feedback said last: yes or no, or a score or reward of at least one half. */
function outcomeOf({ error, feedback }: Episode): string {
  if (error !== undefined) return 'error'
  const reference: readonly string[] = Object.values(referenceFeedback)
  let outcome = 'unknown'
  for (const { name, value } of feedback) {
    if (reference.includes(name)) continue
    if (typeof value === 'boolean') outcome = value ? 'good' : 'bad'
    else if (typeof value === 'number' && (name === 'score' || name === 'reward')) outcome = value >= 0.5 ? 'good' : 'bad'
  }
  return outcome
}
