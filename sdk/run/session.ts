// hg.session and hg.captureContent: who the work inside is done for, and whether its content is recorded.
import { currentFrame, enterFrame, type Frame } from './context.ts'
import type { Recorder } from './recorder.ts'
import { warnHost } from './warn-host.ts'

/** Who work is done for. */
export interface SessionOptions {
  /** The conversation or visit: statistics cluster by it, splits never part it. */
  id?: string
  /** Who, as the product names people. */
  user?: string
  /** Whatever a question may ask for later, e.g. `{ plan: 'pro' }`. */
  tags?: Readonly<Record<string, string>>
}

/** Everything that `fn` starts belongs to this session. Returns what `fn` returns. */
export function withSession<Result>(recorder: Recorder, session: SessionOptions, fn: () => Result): Result {
  const frame = recorder.guard((): Frame => {
    const above = currentFrame()
    return { ...above, agents: above?.agents ?? [], ...sessionFields(recorder, session, above) }
  }, undefined)
  return frame === undefined ? fn() : enterFrame(frame, fn)
}

/** What a frame says of the session: texts. Products in JavaScript give ids that are numbers: these become text; of what is no text the process is told, and it is left out. */
export function sessionFields(recorder: Recorder, session: SessionOptions | undefined, above: Frame | undefined): SessionFields {
  const given: unknown = session ?? undefined
  if (session === undefined || given === undefined) return {}
  if (typeof given !== 'object') {
    warnHost(recorder, `a session is of type ${typeof given}, not { id, user, tags }: it is left out`)
    return {}
  }
  const text = (name: string, value: unknown): string | undefined => {
    if (typeof value === 'string' || value === undefined || value === null) return value ?? undefined
    if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
    warnHost(
      recorder,
      `a session’s \`${name}\` is ${Array.isArray(value) ? 'a list' : `of type ${typeof value}`}, not a text: it is left out`,
    )
    return undefined
  }
  const id = text('id', session.id)
  const user = text('user', session.user)
  const tags = Object.entries(session.tags ?? {}).flatMap(([key, value]) => {
    const kept = text(`tags.${key}`, value)
    return kept === undefined ? [] : [[key, kept] as const]
  })
  return {
    ...(id === undefined ? {} : { session: id }),
    ...(user === undefined ? {} : { user }),
    ...(tags.length === 0 ? {} : { tags: { ...above?.tags, ...Object.fromEntries(tags) } }),
  }
}

type SessionFields = Pick<Frame, 'session' | 'user' | 'tags'>

/** Whether content is recorded of everything that `fn` starts; agents and tools inside may say otherwise. */
export function withContent<Result>(capture: boolean, fn: () => Result): Result {
  const above = currentFrame()
  return enterFrame({ ...above, agents: above?.agents ?? [], captureContent: capture }, fn)
}
