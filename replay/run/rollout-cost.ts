// What the model calls of a rollout cost. Its product asks for the models that it always had; paid is the arm's, which answers.
import type { Episode } from '@homeground/sdk/trace'
import { episodeCostUsd, type Prices } from '../rubric/cost.ts'
import type { Arm } from './types.ts'

/** In US dollars; `undefined` where the arm's model has no price or a call no token counts. The arm `recorded` costs what the recording did. */
export function rolloutCostUsd(episode: Episode, arm: Arm, prices: Prices): number | undefined {
  return episodeCostUsd(episode, prices, arm.model === 'recorded' ? undefined : arm.model)
}
