// Takes a run to where AsyncLocalStorage does not reach: a worker thread, a queue, another process of the product.
import { currentFrame, enterFrame, type Frame } from './context.ts'

/** What goes along: plain data, for `postMessage`, a queue's message or a header. Keep it as it is. */
export interface CarriedRun {
  trace?: string
  span?: string
  agents: readonly string[]
  session?: string
  user?: string
  tags?: Readonly<Record<string, string>>
  sampled?: boolean
  captureContent?: boolean
}

/** The run that this is called in; `undefined` outside any. */
export function carryRun(): CarriedRun | undefined {
  const frame = currentFrame()
  if (frame === undefined) return undefined
  const { traceId, spanId, agents, session, user, tags, sampled, captureContent } = frame
  return defined({ trace: traceId, span: spanId, agents, session, user, tags, sampled, captureContent })
}

/** Everything that `fn` starts belongs to the carried run: same episode, same parent. A replay does not come along: it has no reach there. */
export function resumeRun<Result>(carried: CarriedRun | undefined, fn: () => Result): Result {
  const frame = frameOf(carried)
  return frame === undefined ? fn() : enterFrame(frame, fn)
}

/** It has come through a queue or a header: of whatever shape, it must not stop the work, nor give its spans ids that no collector takes. */
function frameOf(carried: unknown): Frame | undefined {
  try {
    if (typeof carried !== 'object' || carried === null) return undefined
    const field = (name: keyof CarriedRun): unknown => Reflect.get(carried, name)
    const traceId = hex(field('trace'), 32)
    const agents = field('agents')
    return defined({
      traceId,
      spanId: traceId === undefined ? undefined : hex(field('span'), 16),
      agents: Array.isArray(agents) ? agents.filter(isText) : [],
      run: {},
      session: text(field('session')),
      user: text(field('user')),
      tags: Object.fromEntries(Object.entries(field('tags') ?? {}).filter(([, value]) => isText(value))),
      sampled: flag(field('sampled')),
      captureContent: flag(field('captureContent')),
    })
  } catch {
    return undefined
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function text(value: unknown): string | undefined {
  return isText(value) ? value : undefined
}

function hex(value: unknown, digits: number): string | undefined {
  return isText(value) && value.length === digits && /^[0-9a-f]+$/.test(value) ? value : undefined
}

function flag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

type Defined<T> = { [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined> } & {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key]
}

function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>
}
