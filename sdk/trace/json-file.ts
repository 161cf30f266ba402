// A file that holds one JSON value.
import fs from 'node:fs'
import { HomegroundError } from './error.ts'

/** @param hints what to do where it cannot be read, and where it is no JSON @throws HomegroundError not-found, invalid-input: the file */
export function readJsonFile(file: string, hints: { missing?: string; broken: string }): unknown {
  let text: string
  try {
    text = fs.readFileSync(file, 'utf8')
  } catch (cause) {
    throw new HomegroundError('not-found', `${file} cannot be read`, {
      hint: hints.missing ?? 'check the path; it is relative to the current folder',
      cause,
    })
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new HomegroundError('invalid-input', `${file}: not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, {
      hint: hints.broken,
      cause,
    })
  }
}
