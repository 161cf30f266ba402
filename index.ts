// homeground: the library behind the command line.

export { type BuildOptions, type Built, buildEnvironment } from './replay/environment/build.ts'
export { openEnvironment } from './replay/environment/open.ts'
export { sealEnvironment } from './replay/environment/seal.ts'
export type * from './replay/environment/types.ts'
export { type Verification, type VerifyOptions, verifyEnvironment } from './replay/environment/verify.ts'
export type * from './replay/rubric/types.ts'
export { openRun } from './replay/run/open-run.ts'
export { type Progress, type RunOptions, runRollouts } from './replay/run/run-rollouts.ts'
export type * from './replay/run/types.ts'
export type * from './store/types.ts'
