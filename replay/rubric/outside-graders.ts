// What graders need from outside the episode: code in the environment folder, and judge models over HTTP. Opened once a run, closed at its end.
import type { Bill } from './bill.ts'
import { CodeGraders } from './code-grader.ts'
import { type JudgeDeps, systemJudgeDeps } from './judge/endpoint.ts'

export interface OutsideGraders {
  code: CodeGraders
  judge: JudgeDeps
  /** The same, with what judges are asked through it on this bill. */
  billedTo(bill: Bill): OutsideGraders
  close(): Promise<void>
}

/** @param folder the environment folder. @default judge the process's environment variables and fetch */
export function openOutsideGraders(folder: string, options: { judge?: Partial<JudgeDeps> } = {}): OutsideGraders {
  const code = new CodeGraders(folder)
  const graders: OutsideGraders = {
    code,
    judge: { ...systemJudgeDeps, ...options.judge },
    billedTo: (bill) => ({ ...graders, judge: { ...graders.judge, onAnswer: (model, usage) => void bill.add(model, usage) } }),
    close: () => code.close(),
  }
  return graders
}
