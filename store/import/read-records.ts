// The records of a file: lines of JSON Lines, or the items of one JSON array where the name ends in .json.
import fs from 'node:fs/promises'
import { HomegroundError, readJsonLines } from '@homeground/sdk/trace'

export interface ImportRecord {
  value: unknown
  /** `file:line`, or `file[index]`. */
  place: string
}

/** @throws HomegroundError not-found, invalid-input: where, and what was expected there */
export async function* readRecords(file: string): AsyncGenerator<ImportRecord, void, void> {
  if (!file.endsWith('.json')) {
    for await (const { value, line } of readJsonLines(file)) yield { value, place: `${file}:${line}` }
    return
  }
  const whole = await readWhole(file)
  if (!Array.isArray(whole)) yield { value: whole, place: file }
  else for (const [index, value] of whole.entries()) yield { value, place: `${file}[${index}]` }
}

async function readWhole(file: string): Promise<unknown> {
  let text: string
  try {
    text = await fs.readFile(file, 'utf8')
  } catch (cause) {
    throw new HomegroundError('not-found', `${file} cannot be read`, {
      hint: 'check the path; it is relative to the current folder',
      cause,
    })
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new HomegroundError('invalid-input', `${file}: not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, {
      hint: 'a .json file must hold one JSON array or object; name a file of JSON lines .jsonl',
      cause,
    })
  }
}
