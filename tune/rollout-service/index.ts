// tune/rollout-service: plays an environment's harness for a trainer that is the policy.
export { type PlayerOptions, refuseOtherSplits } from './play-rollouts.ts'
export { type RolloutService, serveRollouts } from './serve-rollouts.ts'
export { type TrainOnRolloutsOptions, trainOnRollouts } from './train-on-rollouts.ts'
export type * from './types.ts'
