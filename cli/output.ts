// How commands speak: results on stdout (text, or one JSON value with --json), errors and progress on stderr.

import { errorCodes, HomegroundError } from '@homeground/sdk/trace'
import { CommanderError } from 'commander'
import { systemError } from './system-error.ts'
import { inert } from './terminal.ts'

/** 2 for wrong use or settings, 3 for a failure: a crash must not read as an answer. */
export function exitCodeOf(thrown: unknown): number {
  const error = systemError(thrown) ?? thrown
  if (HomegroundError.is(error)) return errorCodes[error.code].exit
  if (error instanceof CommanderError) return 2
  return errorCodes.internal.exit
}

/** One error on stderr: message, hint, where to read more. No stack, but for a fault of our own. */
export function printError(error: unknown, options: { json: boolean }): void {
  const shown = describe(error)
  if (options.json) process.stderr.write(`${JSON.stringify({ error: shown })}\n`)
  else
    process.stderr.write(
      `error: ${inert(shown.message, { multiline: true })}\n${shown.hint ? `  hint: ${inert(shown.hint, { multiline: true })}\n` : ''}  docs: docs/errors.md#${shown.code}\n`,
    )
}

function describe(thrown: unknown): { code: string; message: string; hint?: string } {
  const error = systemError(thrown) ?? thrown
  if (HomegroundError.is(error)) return { code: error.code, message: error.message, hint: error.hint }
  if (error instanceof CommanderError) {
    // "error: option '--limit <N>' argument 'many' is invalid. Give a whole number of 1 or more."
    const refused = /^error: (.* is invalid)\. (.+)$/s.exec(error.message)
    if (error.code === 'commander.invalidArgument' && refused?.[1] !== undefined && refused[2] !== undefined) {
      return { code: 'invalid-argument', message: refused[1], hint: refused[2] }
    }
    return {
      code: 'invalid-argument',
      message: error.message.replace(/^error: /, ''),
      hint: 'homeground --help lists the commands and options',
    }
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: 'internal', message, hint: 'this is a fault of Homeground; please report it with the lines above' }
}
