// A run folder as something to compare: its rollouts are the outcomes, its margin was fixed before it began.
import type { Rollout, Run } from '../run/types.ts'
import { type CompareOptions, compare } from './compare.ts'
import type { ArmSource, Comparison, ComparisonSource, Outcome } from './types.ts'

export interface CompareRunOptions extends Omit<CompareOptions, 'margin'> {
  /** @default the run's own, fixed in run.json before the run */
  margin?: number | undefined
  /** Tags of the environment's tasks, for slices. */
  tags?: (task: string) => Record<string, string>
}

/** Reads the rollouts once. @throws HomegroundError invalid-argument where an arm does not exist or there is only one */
export function compareRun(run: Run, options: CompareRunOptions = {}): Promise<Comparison> {
  const { tags, ...rest } = options
  return compare(runSource(run, tags), { ...rest, margin: options.margin ?? run.file.margin })
}

/** A run's rollouts as outcomes. */
export function runSource(run: Run, tags?: (task: string) => Record<string, string>): ComparisonSource {
  const { file } = run
  return {
    title: file.environment.name,
    facts: [
      { name: 'run', value: file.id },
      { name: 'environment', value: `${file.environment.name} ${file.environment.hash.slice(0, 12)}` },
      { name: 'harness', value: file.harness.kind },
      { name: 'size', value: `${file.tasks.length} tasks x ${file.repeats} repeats` },
      { name: 'seed', value: String(file.seed) },
      { name: 'started', value: file.startedAt },
      ...Object.entries(file.versions).map(([name, value]) => ({ name, value })),
    ],
    arms: file.arms.map((arm): ArmSource => ({ name: arm.name, description: describe(arm) })),
    planned: file.tasks.length * file.repeats,
    async *outcomes() {
      for await (const rollout of run.rollouts()) yield outcomeOf(rollout)
    },
    ...(tags && { tags }),
  }
}

function describe(arm: Run['file']['arms'][number]): string {
  const variants = Object.entries(arm.variants ?? {}).map(([name, value]) => `${name} = ${shorten(JSON.stringify(value))}`)
  return [arm.model, ...variants].join(', ')
}

function outcomeOf(rollout: Rollout): Outcome {
  const { usage, unconsumedWrites, ...rest } = rollout
  return {
    ...rest,
    ...(unconsumedWrites && { unconsumedWrites: unconsumedWrites.length }),
    ...(usage.inputTokens !== undefined && { inputTokens: usage.inputTokens }),
    ...(usage.outputTokens !== undefined && { outputTokens: usage.outputTokens }),
  }
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
