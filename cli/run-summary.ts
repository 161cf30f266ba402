// What a run's table says of each arm: a first look. The verdict is compare's.
import type { Run } from '../replay/run/types.ts'

export interface ArmSummary {
  name: string
  model: string
  rollouts: number
  /** Mean over the rollouts that have a score; null where none has. */
  score: number | null
  withoutScore: number
  errors: number
  /** Share of rollouts with a call off the tape. */
  offTapeShare: number
  inputTokens: number
  outputTokens: number
  /** Absent where a price is not known. */
  costUsd?: number
  medianMs: number
}

export async function summariseRun(run: Run): Promise<ArmSummary[]> {
  const sums = new Map(
    run.file.arms.map((arm) => [
      arm.name,
      { rollouts: 0, score: 0, scored: 0, errors: 0, offTape: 0, input: 0, output: 0, cost: 0, priced: 0, times: [] as number[] },
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
    if (rollout.error !== undefined) sum.errors += 1
    if (rollout.offTape.count > 0) sum.offTape += 1
    sum.input += rollout.usage.inputTokens ?? 0
    sum.output += rollout.usage.outputTokens ?? 0
    if (rollout.costUsd !== undefined) {
      sum.cost += rollout.costUsd
      sum.priced += 1
    }
    sum.times.push(rollout.durationMs)
  }
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
        offTapeShare: sum.rollouts === 0 ? 0 : sum.offTape / sum.rollouts,
        inputTokens: sum.input,
        outputTokens: sum.output,
        ...(sum.priced === sum.rollouts && sum.priced > 0 ? { costUsd: sum.cost } : {}),
        medianMs: times[Math.floor(times.length / 2)] ?? 0,
      },
    ]
  })
}
