// The records of a file: lines of JSON Lines, or the items of one JSON array where the name ends in .json.
import { readJsonFile, readJsonLines } from '@homeground/sdk/trace'

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
  const whole = readJsonFile(file, { broken: 'a .json file must hold one JSON array or object; name a file of JSON lines .jsonl' })
  if (!Array.isArray(whole)) yield { value: whole, place: file }
  else for (const [index, value] of whole.entries()) yield { value, place: `${file}[${index}]` }
}
