// What graders need from outside the episode: code in the environment folder, and judge models over HTTP. Opened once a run, closed at its end.
import { CodeGraders } from './code-grader.ts'
import { type JudgeDeps, systemJudgeDeps } from './judge/endpoint.ts'

export interface OutsideGraders {
  code: CodeGraders
  judge: JudgeDeps
  close(): Promise<void>
}

/** @param folder the environment folder. @default judge the process's environment variables and fetch */
export function openOutsideGraders(folder: string, options: { judge?: Partial<JudgeDeps> } = {}): OutsideGraders {
  const code = new CodeGraders(folder)
  return { code, judge: { ...systemJudgeDeps, ...options.judge }, close: () => code.close() }
}
