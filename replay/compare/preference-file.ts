// preferences.jsonl of a run: a line for each pair as it is judged. Nothing in it is ever overwritten, so that a call that was stopped goes on, and a judge that is away spoils nothing.
import fs from 'node:fs'
import path from 'node:path'
import { canonicalHash, JsonLinesWriter, parseInput, readJsonLines } from '@homeground/sdk/trace'
import { z } from 'zod'
import type { PreferenceQuestion } from '../rubric/judge/preference.ts'
import type { JudgedPair } from './prefer-run.ts'

const lineSchema = z.looseObject({
  format: z.literal(1),
  baseline: z.string(),
  candidate: z.string(),
  judge: z.string(),
  /** Hash of all that makes it the same question. */
  question: z.string(),
  task: z.string(),
  session: z.string(),
  repeat: z.int(),
  value: z.number().min(0).max(1).nullable(),
  reason: z.string(),
  byOrder: z.boolean(),
})

/** The pairs of two arms by one question. */
export interface AskedPairs {
  baseline: string
  candidate: string
  question: Pick<PreferenceQuestion, 'model' | 'instructions' | 'parameters'>
}

type Head = Pick<z.infer<typeof lineSchema>, 'format' | 'baseline' | 'candidate' | 'judge' | 'question'>

export class PreferenceFile {
  readonly path: string
  readonly #head: Head
  readonly #verdicts: ReadonlyMap<string, JudgedPair>
  #writer: Promise<JsonLinesWriter> | undefined

  private constructor(file: string, head: Head, verdicts: ReadonlyMap<string, JudgedPair>) {
    this.path = file
    this.#head = head
    this.#verdicts = verdicts
  }

  /** @throws HomegroundError invalid-input: a line that is no preference */
  static async open(
    folder: string,
    { baseline, candidate, question: { model, instructions, parameters } }: AskedPairs,
  ): Promise<PreferenceFile> {
    const file = path.join(folder, 'preferences.jsonl')
    const question = canonicalHash({ model, instructions, parameters }).slice(0, 16)
    const head = { format: 1 as const, baseline, candidate, judge: model, question }
    const verdicts = new Map<string, JudgedPair>()
    if (fs.existsSync(file)) {
      for await (const { value, line } of readJsonLines(file, { tornTail: 'skip' })) {
        const read = parseInput(lineSchema, value, {
          place: `${file}:${line}`,
          what: 'a preference (format 1)',
          hint: 'move the file away: the judge is then asked about every pair again',
        })
        const { format: _, baseline: a, candidate: b, judge: __, question: asked, ...pair } = read
        if (a === baseline && b === candidate && asked === question && pair.value !== null) verdicts.set(keyOf(pair), pair)
      }
    }
    return new PreferenceFile(file, head, verdicts)
  }

  /** What the judge said of this pair before. */
  readonly find = (pair: { task: string; repeat: number }): JudgedPair | undefined => this.#verdicts.get(keyOf(pair))

  async add(pair: JudgedPair): Promise<void> {
    this.#writer ??= JsonLinesWriter.open(this.path, { append: true })
    await (await this.#writer).write({ ...this.#head, ...pair })
  }

  async close(): Promise<void> {
    await (await this.#writer)?.close()
  }
}

function keyOf({ task, repeat }: { task: string; repeat: number }): string {
  return `${task}\n${repeat}`
}
