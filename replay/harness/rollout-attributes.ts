// What every span of a rollout carries: where it belongs.
import { genAi, homeground } from '@homeground/sdk/trace'
import type { RolloutJob } from './types.ts'

export function rolloutAttributes({ task, run, arm, repeat }: RolloutJob): Record<string, string | number> {
  return {
    [homeground.sourceKind]: 'rollout',
    [homeground.replayRun]: run,
    [homeground.replayArm]: arm.name,
    [homeground.replayTask]: task.id,
    [homeground.replayRepeat]: repeat,
    [genAi.sessionId]: task.session,
    ...Object.fromEntries(Object.entries(task.tags).map(([name, value]) => [`${homeground.tag}${name}`, value])),
  }
}
