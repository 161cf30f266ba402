// How much of the score rests on judges, and whether a judge says the same twice.
import type { Environment } from '../environment/types.ts'
import { verdicts } from '../rubric/judge/judge.ts'
import type { OutsideGraders } from '../rubric/outside-graders.ts'
import type { CriterionOf } from '../rubric/types.ts'
import type { Finding } from './types.ts'

/** Recordings that each judge is asked about, and how often. */
const sample = 20
const repeats = 3

export async function auditJudges(environment: Environment, outside: OutsideGraders): Promise<Finding[]> {
  const judges = environment.rubric.criteria.filter((criterion) => criterion.type === 'judge' && criterion.weight > 0)
  if (judges.length === 0) return []
  const total = environment.rubric.criteria.reduce((sum, criterion) => sum + criterion.weight, 0)
  const share = judges.reduce((sum, criterion) => sum + criterion.weight, 0) / total
  const findings: Finding[] = []
  if (share > 0.5)
    findings.push({
      kind: 'judge-decides',
      where: judges.map((criterion) => criterion.name).join(', '),
      severity: 'hole',
      sentence: `${Math.round(share * 100)} % of the score depends on a judge model alone.`,
      hint: 'give most of the weight to what can be checked: actions, values, calls',
      tasks: [],
    })
  for (const criterion of judges) if (criterion.type === 'judge') findings.push(...(await stability(environment, criterion, outside)))
  return findings
}

/** Asked several times, and with the labels of its scale the other way round: neither should change what it says. */
async function stability(environment: Environment, criterion: CriterionOf<'judge'>, outside: OutsideGraders): Promise<Finding[]> {
  const wavering: string[] = []
  const byOrder: string[] = []
  let judged = 0
  for await (const task of environment.tasks()) {
    if (judged === sample) break
    const episode = await environment.recording(task.id)
    if (!episode) continue
    const asked = { ...criterion, repeats }
    const [given, turned] = await Promise.all([
      verdicts(asked, { episode, task }, outside.judge),
      verdicts(asked, { episode, task }, outside.judge, 'reversed'),
    ])
    const [labels, turnedLabels] = [labelsOf(given), labelsOf(turned)]
    // A judge that cannot be reached is not unstable; `homeground grade` says what is wrong with it.
    if (labels === undefined || turnedLabels === undefined) return []
    judged += 1
    if (new Set(labels).size > 1 || new Set(turnedLabels).size > 1) wavering.push(task.id)
    // What only wavers is not what the order decides: each order must be of one mind.
    else if (labels[0] !== turnedLabels[0]) byOrder.push(task.id)
  }
  const finding = (kind: 'judge-unstable' | 'judge-order', tasks: string[], when: string, hint: string): Finding[] =>
    judged === 0 || tasks.length / judged <= 0.2
      ? []
      : [
          {
            kind,
            where: criterion.name,
            severity: 'note',
            sentence: `Judge ${criterion.name} changed its verdict on ${tasks.length} of ${judged} recordings when ${when}.`,
            hint,
            tasks: tasks.slice(0, 10),
          },
        ]
  return [
    ...finding(
      'judge-unstable',
      wavering,
      `asked ${repeats} times`,
      'sharpen the instructions, set temperature 0, or ask for more repeats',
    ),
    ...finding(
      'judge-order',
      byOrder,
      'its labels were listed the other way round',
      'say what each label means, or use a scale of fewer labels',
    ),
  ]
}

function labelsOf(given: Awaited<ReturnType<typeof verdicts>>): string[] | undefined {
  const labels = given.flatMap((item) => ('fault' in item ? [] : [item.label]))
  return labels.length < given.length ? undefined : labels
}
