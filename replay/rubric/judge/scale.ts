// A judge's scale: labels, each with a value. Binary is pass and fail.
import type { CriterionOf } from '../types.ts'

export interface Label {
  label: string
  /** In [0, 1]. */
  value: number
}

export function labelsOf(scale: CriterionOf<'judge'>['scale']): readonly Label[] {
  return scale === 'binary'
    ? [
        { label: 'pass', value: 1 },
        { label: 'fail', value: 0 },
      ]
    : scale
}
