// replay/compare: which arm is better, paired by task and clustered by session, with a verdict and a report.
export { type CompareOptions, compare } from './compare.ts'
export { type EpisodeArm, type EpisodesSourceOptions, episodesSource, fieldValues } from './compare-episodes.ts'
export { type CompareRunOptions, compareRun, runSource } from './compare-run.ts'
export {
  estimatePreferences,
  type JudgedPair,
  type PreferenceEstimate,
  type Preferences,
  type PreferRunOptions,
  preferRun,
} from './prefer-run.ts'
export { PreferenceFile } from './preference-file.ts'
export { type ReportFiles, writeReport, writeReportFiles } from './report/write-report.ts'
export { scoreByFeedback } from './score-by-feedback.ts'
export type * from './types.ts'
export type { PrimaryEstimate, Verdict, VerdictReason, VerdictWord } from './verdict.ts'
