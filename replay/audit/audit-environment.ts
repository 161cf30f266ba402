// Looks for ways to cheat an environment, before a policy in training finds them.
import type { Environment } from '../environment/types.ts'
import { type OutsideGraders, openOutsideGraders } from '../rubric/outside-graders.ts'
import type { Run } from '../run/types.ts'
import { auditData } from './audit-data.ts'
import { auditJudges } from './audit-judges.ts'
import { auditRuns } from './audit-runs.ts'
import type { Policy } from './policies.ts'
import { type ScoreSums, scorePolicies, scoreRecordings } from './score-policies.ts'
import type { AuditReport, Finding } from './types.ts'

/** A policy that gets this share of what the recordings get, for nothing, has found a hole. */
export const wholeShare = 0.5
/** A criterion that gives a policy this share of what it gives the recordings does not tell the two apart. */
export const criterionShare = 0.9

/** Criteria that a policy may fulfil by doing nothing, as is their point: limits, prohibitions, and what people said of the recording. */
const guards = new Set(['cost', 'latency', 'steps', 'no_tool_called', 'feedback'])

/** `runs` of this environment say which tasks nobody or everybody solves. Judges are asked only where `outside` can reach them; without an endpoint their criteria have no score and say so. */
export async function auditEnvironment(
  environment: Environment,
  options: { outside?: OutsideGraders; runs?: readonly Run[] } = {},
): Promise<AuditReport> {
  const outside = options.outside ?? openOutsideGraders(environment.folder)
  try {
    const recorded = await scoreRecordings(environment)
    const scored = await scorePolicies(environment, outside)
    const findings = [
      ...unscoredFindings(recorded, scored),
      ...wholeFindings(recorded, scored),
      ...criterionFindings(environment, recorded, scored),
      ...constantFindings(environment, recorded),
      ...(await auditData(environment)),
      ...(await auditJudges(environment, outside)),
      ...(await auditRuns(options.runs ?? [])),
    ]
    return {
      environment: { name: environment.file.name, hash: environment.file.hash },
      tasks: environment.size,
      recorded: recorded.result('recorded', 'what the product did'),
      policies: scored.map(({ policy, sums }) => sums.result(policy.name, policy.description)),
      findings,
    }
  } finally {
    if (options.outside === undefined) await outside.close()
  }
}

/** Where nothing gets a score nothing can be found: that is no clean bill. */
function unscoredFindings(recorded: ScoreSums, scored: readonly { sums: ScoreSums }[]): Finding[] {
  const score = ({ sums }: { sums: ScoreSums }) => sums.result('', '').score
  if (scored.some((one) => score(one) !== null)) return []
  if (score({ sums: recorded }) !== null)
    return [
      {
        kind: 'never-scored',
        where: 'rubric',
        severity: 'hole',
        sentence:
          'Recordings get a score and no policy does: what is weighed can be graded on recordings alone, so that no rollout has a score either.',
        hint: 'give feedback weight 0, and weigh what a good answer shows; homeground compare RUN says why a rollout has no score',
        tasks: [],
      },
    ]
  return [
    {
      kind: 'never-scored',
      where: 'rubric',
      severity: 'hole',
      sentence: 'Neither a recording nor a policy gets a score: no criterion with a weight can be graded on these tasks.',
      hint: 'homeground grade ENV says why; criteria that need a reference need tasks that have one (env build --reference recorded), judges an endpoint',
      tasks: [],
    },
  ]
}

function wholeFindings(recorded: ScoreSums, scored: readonly { policy: Policy; sums: ScoreSums }[]): Finding[] {
  const base = recorded.result('recorded', '').score
  return scored.flatMap(({ policy, sums }): Finding[] => {
    const { score } = sums.result(policy.name, policy.description)
    if (score === null || score < Math.max(0.1, wholeShare * (base ?? 1))) return []
    return [
      {
        kind: 'policy-scores',
        where: policy.name,
        severity: 'hole',
        sentence: `A policy that ${policy.description} scores ${score.toFixed(2)}; the recordings score ${base === null ? 'nothing' : base.toFixed(2)}.`,
        hint: 'add a criterion that it fails, or leave out tasks on which doing nothing is right',
        tasks: sums.rewarded,
      },
    ]
  })
}

function criterionFindings(
  environment: Environment,
  recorded: ScoreSums,
  scored: readonly { policy: Policy; sums: ScoreSums }[],
): Finding[] {
  const base = recorded.result('recorded', '').criteria
  return environment.rubric.criteria.flatMap((criterion): Finding[] => {
    if (criterion.weight === 0 || guards.has(criterion.type)) return []
    const least = Math.max(0.5, criterionShare * (base[criterion.name] ?? 1))
    const fooled = scored.flatMap(({ policy, sums }) => {
      const value = sums.result(policy.name, '').criteria[criterion.name] ?? null
      return value !== null && value >= least ? [`${policy.name} (${value.toFixed(2)})`] : []
    })
    if (fooled.length === 0) return []
    return [
      {
        kind: 'criterion-fooled',
        where: criterion.name,
        severity: 'hole',
        sentence: `Criterion ${criterion.name} (${criterion.type}) gives ${fooled.join(', ')} about what it gives the recordings (${(base[criterion.name] ?? 0).toFixed(2)}).`,
        hint: 'ask for something that only a right answer has: exact values, the right calls, a reference',
        tasks: [],
      },
    ]
  })
}

/** At least ten recordings, and all of them with the same value. */
function constantFindings(environment: Environment, recorded: ScoreSums): Finding[] {
  return environment.rubric.criteria.flatMap((criterion): Finding[] => {
    const values = recorded.values(criterion.name)
    const [first] = values
    if (criterion.weight === 0 || first === undefined || values.length < 10 || values.some((value) => value !== first)) return []
    return [
      {
        kind: 'criterion-constant',
        where: criterion.name,
        severity: 'note',
        sentence: `Criterion ${criterion.name} gives every one of ${values.length} recordings ${first}: it tells nothing apart.`,
        hint:
          first === 1
            ? 'make it stricter, or give it weight 0; as it should be where the recording itself is the reference'
            : 'make it reachable, or take it out',
        tasks: [],
      },
    ]
  })
}
