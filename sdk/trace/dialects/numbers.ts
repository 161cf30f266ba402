// Numbers that may be missing: missing is absent, never 0.
import type { Usage } from '../episode.ts'

export function presentUsage(usage: { [Key in keyof Usage]: Usage[Key] | undefined }): Usage {
  return Object.fromEntries(Object.entries(usage).filter(([, tokens]) => tokens !== undefined))
}

export function defined(fields: Record<string, number | undefined>): Record<string, number> {
  const kept: Record<string, number> = {}
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) kept[key] = value
  return kept
}
