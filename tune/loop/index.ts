// tune/loop: iterations of collect, build, verify, audit, rollouts, dataset, tune, select and gate, with a ledger, resumable at every step.
export { type LoopEnd, type LoopOptions, type LoopResult, runLoop } from './loop.ts'
export { formatsOf, planIteration } from './plan.ts'
export { runOnSchedule } from './schedule.ts'
export { LoopState } from './state.ts'
export { type CommandOptions, type Iteration, type LoopFile, loopFileSchema, type PlannedStep, type StepName, stepNames } from './types.ts'
