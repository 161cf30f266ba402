// What a loop remembers: which steps of the iteration under way are done, what each iteration came to, and which model is live.
import fs from 'node:fs'
import path from 'node:path'
import { makeFolder, parseInput, parseJson, readJsonFile } from '@homeground/sdk/trace'
import { z } from 'zod'
import { type Iteration, iterationSchema, type StepName, stepNames } from './types.ts'

const progressSchema = z.strictObject({
  iteration: z.int().positive(),
  startedAt: z.string(),
  /** What each finished step printed, and how long it took. */
  done: z.partialRecord(z.enum(stepNames), z.strictObject({ printed: z.json(), seconds: z.number() })),
})
export type IterationProgress = z.infer<typeof progressSchema>

export class LoopState {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
    makeFolder(folder)
  }

  /** Iterations that ended, oldest first. @throws HomegroundError invalid-input */
  iterations(): Iteration[] {
    const file = path.join(this.folder, 'ledger.jsonl')
    if (!fs.existsSync(file)) return []
    return fs
      .readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        line.trim() === '' ? [] : [parseInput(iterationSchema, parseJson(line), { place: `${file}:${index + 1}`, what: 'an iteration' })],
      )
  }

  /** The one that was broken off, else a new one. */
  progress(now: () => Date): IterationProgress {
    const file = path.join(this.folder, 'progress.json')
    if (fs.existsSync(file)) {
      return parseInput(progressSchema, readJsonFile(file, { broken: 'remove it: the iteration begins anew' }), {
        place: file,
        what: 'the progress of a loop',
      })
    }
    return { iteration: this.iterations().length + 1, startedAt: now().toISOString(), done: {} }
  }

  /** Written before the next step begins: a step that is here is never run again. */
  finishStep(progress: IterationProgress, step: StepName, result: { printed: z.infer<ReturnType<typeof z.json>>; seconds: number }): void {
    progress.done[step] = result
    writeWhole(path.join(this.folder, 'progress.json'), `${JSON.stringify(progress, null, 2)}\n`)
  }

  /** The line first: killed in between, the iteration is not lost, and not counted twice. */
  finishIteration(iteration: Iteration): void {
    if (!this.iterations().some((each) => each.iteration === iteration.iteration)) {
      // Whole, or as it was: half a line would end every later loop.
      const file = path.join(this.folder, 'ledger.jsonl')
      const before = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''
      writeWhole(file, `${before}${JSON.stringify(iteration)}\n`)
    }
    fs.rmSync(path.join(this.folder, 'progress.json'), { force: true })
  }

  iterationFolder(iteration: number): string {
    const folder = path.join(this.folder, String(iteration).padStart(3, '0'))
    makeFolder(folder)
    return folder
  }
}

export function writeWhole(file: string, text: string): void {
  fs.writeFileSync(`${file}.next`, text)
  fs.renameSync(`${file}.next`, file)
}
