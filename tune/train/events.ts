// What the trainer says, line by line (metrics.jsonl and its stdout). Read laxly: a newer trainer may say more.
import { z } from 'zod'

const count = z.number()
const maybe = z.number().nullable()

export const trainerEventSchema = z.discriminatedUnion('event', [
  z.looseObject({ event: z.literal('start'), recipe: z.string(), rows: count, validationRows: count }),
  z.looseObject({
    event: z.literal('rows'),
    split: z.string(),
    kept: count,
    tooLong: count,
    cut: count,
    tokens: z.looseObject({ total: count, p50: count, p95: count, max: count }),
    trainedShare: count,
  }),
  z.looseObject({ event: z.literal('memory'), total: count, free: count }),
  z.looseObject({
    event: z.literal('training'),
    device: z.string(),
    trainable: count,
    template: z.string(),
    resumedFrom: z.string().nullable(),
  }),
  z.looseObject({
    event: z.literal('step'),
    at: z.string(),
    step: count,
    steps: count,
    loss: maybe.optional(),
    learningRate: maybe.optional(),
    tokens: maybe.optional(),
    reward: maybe.optional(),
    /** Of `grpo`: of this step's rollouts. */
    offTapeShare: maybe.optional(),
    rollouts: count.optional(),
    errored: count.optional(),
  }),
  z.looseObject({ event: z.literal('evaluation'), step: count, loss: maybe }),
  z.looseObject({ event: z.literal('checkpoint'), step: count, path: z.string() }),
  z.looseObject({ event: z.literal('warning'), code: z.string(), message: z.string() }),
  z.looseObject({ event: z.literal('serving'), url: z.string(), model: z.string(), models: z.array(z.string()) }),
  z.looseObject({
    event: z.literal('end'),
    already: z.boolean(),
    kind: z.enum(['adapter', 'model']),
    path: z.string(),
    base: z.string(),
    recipe: z.string(),
    steps: count,
    seconds: count,
    trainable: count,
    template: z.string(),
    seed: count,
    versions: z.record(z.string(), z.string()),
    loss: z.looseObject({ first: maybe, last: maybe }),
    validationLoss: z.array(maybe),
    reward: z.looseObject({ first: maybe, last: maybe }).optional(),
  }),
  z.looseObject({
    event: z.literal('refused'),
    code: z.string(),
    faults: z.array(z.looseObject({ field: z.string(), expected: z.string(), found: z.string(), action: z.string() })),
  }),
  z.looseObject({ event: z.literal('failed'), message: z.string(), action: z.string() }),
])
export type TrainerEvent = z.infer<typeof trainerEventSchema>
export type TrainingEnd = Extract<TrainerEvent, { event: 'end' }>

/** Undefined for a line that is no event, or one of a kind that this version does not know. */
export function parseEvent(line: string): TrainerEvent | undefined {
  try {
    return trainerEventSchema.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}
