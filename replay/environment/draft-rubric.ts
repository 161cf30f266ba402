// A first rubric out of the data, for a person to edit: what is known to be right counts, what merely was is weighed 0.
import type { Criterion, Rubric } from '../rubric/types.ts'
import type { Survey } from './survey.ts'

export function draftRubric(survey: Survey): Rubric {
  const criteria: Criterion[] = []
  if (survey.references.actions > 0) criteria.push({ name: 'actions', weight: 1, type: 'actions', outputs: true })
  else if (survey.references.outputs > 0) criteria.push({ name: 'outputs', weight: 1, type: 'contains', caseSensitive: false })
  if (survey.references.output > 0) criteria.push({ name: 'answer', weight: criteria.length === 0 ? 1 : 0, type: 'equals' })
  for (const [name, seen] of [...survey.feedback].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (seen.numeric === 0) continue
    // Feedback is of the recording; a rollout gets none until somebody gives it. It is weighed only where nothing better is known.
    criteria.push({
      name: criterionName(name),
      weight: criteria.length === 0 ? 1 : 0,
      type: 'feedback',
      feedback: name,
      max: Math.max(1, seen.max),
    })
  }
  // Before the steps, whose weight is 1 where nothing else has one: what most recordings used may be what a good answer needs. A person knows.
  const used = [...survey.tools].filter(([, { episodes }]) => episodes > 0 && episodes * 2 >= survey.episodes).map(([name]) => name)
  const weighed = criteria.length > 0
  for (const tool of used.sort()) criteria.push({ name: `uses ${tool}`, weight: 0, type: 'tool_called', tool, min: 1 })
  criteria.push({
    name: 'steps',
    weight: weighed ? 0 : 1,
    type: 'steps',
    max: Math.max(1, Math.ceil(survey.steps.max * 1.5)),
  })
  return { criteria }
}

/** The draft has no criterion but the number of steps. */
export function nothingSaysRight({ references, feedback }: Survey): boolean {
  return references.actions + references.outputs + references.output === 0 && ![...feedback.values()].some((seen) => seen.numeric > 0)
}

function criterionName(feedback: string): string {
  return ['actions', 'outputs', 'answer', 'steps'].includes(feedback) ? `feedback ${feedback}` : feedback
}
