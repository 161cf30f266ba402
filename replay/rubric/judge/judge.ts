// The `judge` grader: asks each model of the panel as often as the criterion says. The score is the mean of all verdicts, or null if any is missing.
import type { Episode } from '@homeground/sdk/trace'
import type { Task } from '../../environment/types.ts'
import type { CriterionOf, Score } from '../types.ts'
import { askJudge, type JudgeDeps } from './endpoint.ts'
import { type LabelOrder, question } from './question.ts'
import { readVerdict } from './read-verdict.ts'
import { labelsOf } from './scale.ts'

export interface JudgeVerdict {
  model: string
  repeat: number
  label: string
  value: number
  reason: string
}

/** Never throws for what a judge does: nonsense, a time-out or an injected answer leaves the criterion without a score. */
export async function judge(criterion: CriterionOf<'judge'>, input: { episode: Episode; task: Task }, deps: JudgeDeps): Promise<Score> {
  const { weight } = criterion
  const asked = await verdicts(criterion, input, deps)
  const faults = asked.flatMap((item) => ('fault' in item ? [item.fault] : []))
  if (faults[0] !== undefined)
    return { value: null, weight, reason: faults.length === 1 ? faults[0] : `${faults[0]} (and ${faults.length - 1} more)` }
  const given = asked.flatMap((item) => ('fault' in item ? [] : [item]))
  const value = given.reduce((sum, item) => sum + item.value, 0) / given.length
  const [first] = given
  const votes = given.length === 1 ? (first?.label ?? '') : counted(given.map((item) => item.label))
  return { value, weight, reason: `${votes}: ${first?.reason ?? ''}` }
}

/** Every verdict asked for, in order of model and repeat. */
export async function verdicts(
  criterion: CriterionOf<'judge'>,
  input: { episode: Episode; task: Task },
  deps: JudgeDeps,
  order?: LabelOrder,
): Promise<(JudgeVerdict | { fault: string })[]> {
  const models = typeof criterion.model === 'string' ? [criterion.model] : criterion.model
  const labels = labelsOf(criterion.scale)
  const one = async (model: string, repeat: number): Promise<JudgeVerdict | { fault: string }> => {
    const { system, user, ticket } = question(criterion, input, repeat, order)
    const { url, apiKeyEnv, parameters = {}, timeoutMs } = criterion
    const answer = await askJudge({ model, system, user, url, apiKeyEnv, parameters, timeoutMs }, deps)
    if ('fault' in answer) return answer
    const read = readVerdict(
      answer.text,
      ticket,
      labels.map(({ label }) => label),
    )
    if ('fault' in read) return read
    const value = labels.find(({ label }) => label === read.verdict)?.value ?? 0
    return { model, repeat, label: read.verdict, value, reason: read.reason }
  }
  const asked = models.flatMap((model) => Array.from({ length: criterion.repeats }, (_, repeat) => one(model, repeat)))
  return Promise.all(asked)
}

/** `2 pass, 1 fail` */
function counted(labels: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1)
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([label, count]) => `${count} ${label}`)
    .join(', ')
}
