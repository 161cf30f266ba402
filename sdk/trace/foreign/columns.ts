// Columns without those that a span says nothing about.
import type { RowKind } from '../row.ts'
import type { ForeignColumns } from './types.ts'

export type ForeignColumnsOf<Kind extends RowKind> = ForeignColumns & { kind: Kind }

/** The members that are neither undefined nor ''. */
export function defined<T extends object>(given: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const said: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) if (value !== undefined && value !== '') said[name] = value
  return said as { [Key in keyof T]?: Exclude<T[Key], undefined> }
}
