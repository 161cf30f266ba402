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
  if (carried === undefined) return fn()
  const { trace, span, agents, session, user, tags, sampled, captureContent } = carried
  const frame: Frame = defined({ traceId: trace, spanId: span, agents, run: {}, session, user, tags, sampled, captureContent })
  return enterFrame(frame, fn)
}

type Defined<T> = { [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined> } & {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key]
}

function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>
}
