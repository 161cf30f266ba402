// A file that holds one JSON value.
import fs from 'node:fs'
import { type ErrorCode, HomegroundError } from './error.ts'
import { errorText } from './thrown.ts'

/** What is said of a file that is not there, or is no JSON. */
export interface JsonFileFaults {
  /** @default `FILE cannot be read` */
  missing?: string
  /** What to do then. @default check the path; it is relative to the current folder */
  missingHint?: string
  /** What to do where it is no JSON. */
  broken: string
  /** Then. @default invalid-input */
  code?: ErrorCode
}

/** @throws HomegroundError not-found; `faults.code`: the file, and where in it */
export function readJsonFile(file: string, faults: JsonFileFaults): unknown {
  let text: string
  try {
    text = fs.readFileSync(file, 'utf8')
  } catch (cause) {
    throw new HomegroundError('not-found', faults.missing ?? `${file} cannot be read`, {
      hint: faults.missingHint ?? 'check the path; it is relative to the current folder',
      cause,
    })
  }
  try {
    // Some editors put a byte order mark first.
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (cause) {
    throw new HomegroundError(faults.code ?? 'invalid-input', `${file}: not JSON: ${errorText(cause)}`, {
      hint: faults.broken,
      cause,
    })
  }
}
