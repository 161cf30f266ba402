// The rollout service's wire format (version 1): what the trainer asks, and one line for each rollout as it ends.
import { z } from 'zod'

export const playRequestSchema = z.strictObject({
  format: z.literal(1),
  /** Base URL of the policy, with `{id}` where a rollout's id goes. */
  policy: z.url().refine((url) => url.includes('{id}'), 'expected {id} in it'),
  /** The trainer's step: each one plays a task with other dice. */
  step: z.int().nonnegative(),
  rollouts: z
    .array(z.strictObject({ id: z.string().regex(/^[A-Za-z0-9_-]{1,100}$/), task: z.string(), repeat: z.int().nonnegative() }))
    .min(1),
})
export type PlayRequest = z.infer<typeof playRequestSchema>

/** What `GET /environment` answers. */
export interface PlayedEnvironment {
  name: string
  hash: string
  /** Some tool answers from recordings only. */
  tapeBound: boolean
}

/** One line of the answer. */
export interface PlayedRollout {
  id: string
  task: string
  /** In [0, 1]; null where it broke off or could not be scored. */
  score: number | null
  criteria: Record<string, number | null>
  /** Calls that left the tape. */
  offTape: number
  stop: string
  error?: { type: string; message: string }
  durationMs: number
}

/** The last line, where the service cannot go on. */
export interface PlayFailure {
  failed: string
  hint: string
}
