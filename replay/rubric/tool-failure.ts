// How a tool tells the model that it failed, where it did not throw.
import type { Json } from '@homeground/sdk/trace'

/** Text that begins with `Error` (tau-bench, most frameworks), MCP's `isError: true`, or an `error` member that says something. */
export function saysFailure(result: Json): boolean {
  if (typeof result === 'string') return /^\s*error\b/i.test(result)
  if (result === null || typeof result !== 'object' || Array.isArray(result)) return false
  if (result['isError'] === true) return true
  const error = result['error']
  return error !== undefined && error !== null && error !== false && error !== ''
}
