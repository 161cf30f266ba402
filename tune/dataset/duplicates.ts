// Rows that say the same: equal ones by their hash, nearly equal ones by MinHash over runs of five words.
import { canonicalHash } from '@homeground/sdk/trace'
import { SeenTexts } from '../../replay/environment/min-hash.ts'
import type { Row } from '../formats/messages.ts'

const runOfWords = 5

export class Duplicates {
  private readonly equal = new Set<string>()
  private readonly near: SeenTexts | undefined

  /** @param threshold share of equal word runs from which rows are the same; 1 = only equal rows */
  constructor(threshold = 1) {
    this.near = threshold < 1 ? new SeenTexts(threshold, runOfWords) : undefined
  }

  /** True where a row like it was here before; if not, it is noted. Call ids say nothing. */
  seen(row: Row): boolean {
    const said = withoutIds(row)
    const hash = canonicalHash(said)
    if (this.equal.has(hash)) return true
    this.equal.add(hash)
    return this.near?.has(JSON.stringify(said)) ?? false
  }
}

function withoutIds(row: Row): Row {
  const copy: Row = JSON.parse(JSON.stringify(row, (key, value: unknown) => (key === 'id' || key === 'tool_call_id' ? undefined : value)))
  return copy
}
