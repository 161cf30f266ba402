// What was thrown: products and libraries throw anything, and under a test runner with realms of its own the platform's errors are no `Error` of the tests'.
import { types } from 'node:util'

/** Also where it is of another realm. */
export function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || types.isNativeError(thrown)
}

/** What it says, in one line for people. */
export function errorText(thrown: unknown): string {
  return isError(thrown) ? thrown.message : String(thrown)
}

/** Whether it is the platform's error of this code: `ENOENT`, `EEXIST`, … */
export function hasErrorCode(thrown: unknown, code: string): boolean {
  return isError(thrown) && 'code' in thrown && thrown.code === code
}
