// What people say of recordings, criterion by criterion: labels.jsonl, written by the page of `homeground label`, read to see how far judges agree.
import { parseInput, readJsonLines } from '@homeground/sdk/trace'
import { z } from 'zod'
import { type Agreement, agreementOf } from './judge/agreement.ts'

export const labelSchema = z.strictObject({
  format: z.literal(1),
  task: z.string().min(1),
  criterion: z.string().min(1),
  /** In [0, 1]: the value of the scale's label. */
  value: z.number().min(0).max(1),
  by: z.string(),
  /** ISO 8601. */
  at: z.string(),
  comment: z.string().exactOptional(),
})
export type HumanLabel = z.infer<typeof labelSchema>

/** @throws HomegroundError not-found, invalid-input: file:line */
export async function readLabels(file: string): Promise<HumanLabel[]> {
  const labels: HumanLabel[] = []
  for await (const { value, line } of readJsonLines(file))
    labels.push(parseInput(labelSchema, value, { place: `${file}:${line}`, what: 'a label (format 1)' }))
  return labels
}

export interface Calibration extends Agreement {
  criterion: string
  /** Labels whose recording has no score by this criterion: left out, not counted as disagreement. */
  unscored: number
}

/** How far each labelled criterion agrees with people. Of several labels of one task by one person the last counts; several people are averaged and must agree to count. */
export function calibrate(
  graded: readonly { task: string; scores: Record<string, { value: number | null }> }[],
  labels: readonly HumanLabel[],
): Calibration[] {
  const last = new Map(labels.map((label) => [`${label.criterion}\n${label.task}\n${label.by}`, label]))
  const byTask = new Map<string, Map<string, number[]>>()
  for (const { criterion, task, value } of last.values()) {
    const tasks = byTask.get(criterion) ?? new Map<string, number[]>()
    byTask.set(criterion, tasks)
    tasks.set(task, [...(tasks.get(task) ?? []), value])
  }
  const scores = new Map(graded.map((item) => [item.task, item.scores]))
  return [...byTask].map(([criterion, tasks]) => {
    const pairs: { judge: number; human: number }[] = []
    let unscored = 0
    for (const [task, values] of tasks) {
      const [human] = values
      const judge = scores.get(task)?.[criterion]?.value
      // Where people differ there is no right answer to agree with.
      if (human === undefined || values.some((value) => value !== human)) continue
      if (judge === null || judge === undefined) unscored += 1
      else pairs.push({ judge, human })
    }
    return { criterion, unscored, ...agreementOf(pairs) }
  })
}
