// What a run's table says of each arm: a first look. The verdict is compare's.
import { nullReason } from '../replay/compare/tally.ts'
import { addAsked, nobodyAsked } from '../replay/rubric/bill.ts'
import type { Run } from '../replay/run/types.ts'

export interface ArmSummary {
  name: string
  model: string
  rollouts: number
  /** Mean over the rollouts that have a score; null where none has. */
  score: number | null
  withoutScore: number
  errors: number
  /** Variants that the arm sets and that no rollout of it asked for: misspelt, or of another product. */
  unusedVariants: string[]
  /** What ended rollouts, the most frequent first. */
  failures: { reason: string; count: number }[]
  /** Why rollouts that did end have no score, the most frequent first. */
  unscored: { reason: string; count: number }[]
  /** Share of rollouts with a call off the tape. */
  offTapeShare: number
  inputTokens: number
  outputTokens: number
  /** Model calls that were answered out of the cache. */
  cachedCalls: number
  /** Absent where a price is not known. */
  costUsd?: number
  /** What its judges and simulators cost: the test's own. Absent where nobody was asked, or a price is not known. */
  judgesUsd?: number
  simulatorsUsd?: number
  medianMs: number
}

export async function summariseRun(run: Run): Promise<ArmSummary[]> {
  const sums = new Map(
    run.file.arms.map((arm) => [
      arm.name,
      {
        rollouts: 0,
        score: 0,
        scored: 0,
        errors: 0,
        failures: new Map<string, number>(),
        unscored: new Map<string, number>(),
        offTape: 0,
        cachedCalls: 0,
        input: 0,
        output: 0,
        cost: 0,
        priced: 0,
        judges: nobodyAsked(),
        simulators: nobodyAsked(),
        times: [] as number[],
      },
    ]),
  )
  for await (const rollout of run.rollouts()) {
    const sum = sums.get(rollout.arm)
    if (sum === undefined) continue
    sum.rollouts += 1
    if (rollout.score !== null) {
      sum.score += rollout.score
      sum.scored += 1
    }
    if (rollout.error !== undefined) {
      sum.errors += 1
      const reason = `${rollout.error.type}: ${rollout.error.message.slice(0, 300)}`
      countReason(sum.failures, reason)
    } else if (rollout.score === null) countReason(sum.unscored, nullReason(rollout))
    if (rollout.offTape.count > 0) sum.offTape += 1
    sum.cachedCalls += rollout.cachedCalls ?? 0
    sum.input += rollout.usage.inputTokens ?? 0
    sum.output += rollout.usage.outputTokens ?? 0
    if (rollout.costUsd !== undefined) {
      sum.cost += rollout.costUsd
      sum.priced += 1
    }
    addAsked(sum.judges, rollout.judges)
    addAsked(sum.simulators, rollout.simulators)
    sum.times.push(rollout.durationMs)
  }
  const asked = await askedVariants(run)
  return run.file.arms.flatMap((arm) => {
    const sum = sums.get(arm.name)
    if (sum === undefined) return []
    const times = sum.times.sort((a, b) => a - b)
    return [
      {
        name: arm.name,
        model: arm.model,
        rollouts: sum.rollouts,
        score: sum.scored === 0 ? null : sum.score / sum.scored,
        withoutScore: sum.rollouts - sum.scored,
        errors: sum.errors,
        unusedVariants: Object.keys(arm.variants ?? {}).filter((name) => !asked.has(`${arm.name}\n${name}`)),
        failures: mostFrequent(sum.failures),
        unscored: mostFrequent(sum.unscored),
        offTapeShare: sum.rollouts === 0 ? 0 : sum.offTape / sum.rollouts,
        cachedCalls: sum.cachedCalls,
        inputTokens: sum.input,
        outputTokens: sum.output,
        ...(sum.priced === sum.rollouts && sum.priced > 0 ? { costUsd: sum.cost } : {}),
        ...(sum.judges.calls === 0 || sum.judges.usd === undefined ? {} : { judgesUsd: sum.judges.usd }),
        ...(sum.simulators.calls === 0 || sum.simulators.usd === undefined ? {} : { simulatorsUsd: sum.simulators.usd }),
        medianMs: times[Math.floor(times.length / 2)] ?? 0,
      },
    ]
  })
}

/** Messages that hold a number of their own would each be a reason: the first hundred stand for all. */
function countReason(reasons: Map<string, number>, reason: string): void {
  if (reasons.size < 100 || reasons.has(reason)) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
}

function mostFrequent(reasons: ReadonlyMap<string, number>): { reason: string; count: number }[] {
  return [...reasons].map(([reason, count]) => ({ reason, count })).toSorted((a, b) => b.count - a.count)
}

/** `ARM\nVARIANT` of each variant that a rollout's product asked for; episodes carry them as tags. */
async function askedVariants(run: Run): Promise<Set<string>> {
  const asked = new Set<string>()
  if (run.file.arms.every((arm) => Object.keys(arm.variants ?? {}).length === 0)) return asked
  for await (const { source, tags } of run.episodes())
    for (const tag of Object.keys(tags)) if (tag.startsWith('variant.')) asked.add(`${source.arm}\n${tag.slice('variant.'.length)}`)
  return asked
}
