import { types } from 'node:util'

/** Also of another realm: under a test runner that has realms of its own, the platform's errors are no `Error` of the tests'. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value)
}
