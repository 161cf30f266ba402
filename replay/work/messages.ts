// What the one who hands rollouts out and those who play them say to each other. Names of arms' keys travel, keys never.
import { gunzipSync, gzipSync } from 'node:zlib'
import { type Episode, expandEpisodeLine, formatEpisodeLine, HomegroundError } from '@homeground/sdk/trace'
import { z } from 'zod'
import { harnessSchema } from '../environment/types.ts'
import { armSchema, type Rollout, rolloutSchema } from '../run/types.ts'

const jobSchema = z.strictObject({
  format: z.literal(1),
  /** The run, and who handed this out: another life of the run takes results of this one, not its faults. */
  run: z.string(),
  handOut: z.string(),
  /** Its place in the run. */
  index: z.int().nonnegative(),
  environment: z.strictObject({ name: z.string(), folder: z.string(), hash: z.string() }),
  harness: harnessSchema,
  seed: z.int(),
  latency: z.number().positive().exactOptional(),
  allowLive: z.array(z.string()),
  task: z.string(),
  arm: armSchema,
  repeat: z.int().nonnegative(),
})
export type Job = z.infer<typeof jobSchema>

const reportSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    format: z.literal(1),
    kind: z.literal('rollout'),
    run: z.string(),
    index: z.int().nonnegative(),
    rollout: rolloutSchema,
    episode: z.unknown(),
  }),
  /** The worker cannot play it, whoever asks again: its settings, its copy of the environment. */
  z.strictObject({
    format: z.literal(1),
    kind: z.literal('fault'),
    run: z.string(),
    handOut: z.string(),
    worker: z.string(),
    code: z.string(),
    message: z.string(),
    hint: z.string(),
  }),
  /** All that was reported before has been read. */
  z.strictObject({ format: z.literal(1), kind: z.literal('mark'), run: z.string(), handOut: z.string() }),
])
export type Fault = Extract<z.infer<typeof reportSchema>, { kind: 'fault' }>
export type Mark = Extract<z.infer<typeof reportSchema>, { kind: 'mark' }>
export interface Result {
  format: 1
  kind: 'rollout'
  run: string
  index: number
  rollout: Rollout
  episode: Episode
}
export type Report = Result | Fault | Mark

export function writeJob(job: Job): Buffer {
  return Buffer.from(JSON.stringify(job))
}

/** @throws HomegroundError invalid-input */
export function readJob(value: Buffer): Job {
  return parsed(jobSchema, value, 'a job')
}

/** An episode repeats itself: it travels packed. */
export function writeReport(report: Report): Buffer {
  const { kind } = report
  const json = kind === 'rollout' ? { ...report, episode: JSON.parse(formatEpisodeLine(report.episode)) } : report
  return gzipSync(JSON.stringify(json))
}

/** @throws HomegroundError invalid-input */
export function readReport(value: Buffer): Report {
  const report = parsed(reportSchema, unpacked(value), 'a report')
  return report.kind === 'rollout'
    ? { ...report, episode: expandEpisodeLine(report.episode, `the report of rollout ${report.index}`) }
    : report
}

function unpacked(value: Buffer): Buffer {
  try {
    return gunzipSync(value)
  } catch {
    return value
  }
}

function parsed<T>(schema: z.ZodType<T>, value: Buffer, what: string): T {
  let json: unknown
  try {
    json = JSON.parse(value.toString('utf8'))
  } catch {
    json = undefined
  }
  const result = schema.safeParse(json)
  if (result.success) return result.data
  throw new HomegroundError('invalid-input', `a message is not ${what}: ${z.prettifyError(result.error)}`, {
    hint: 'the workers and the run must be of the same version of Homeground',
  })
}
