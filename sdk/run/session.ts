// hg.session: who the work inside is done for.
import { currentFrame, enterFrame } from './context.ts'

export interface SessionOptions {
  /** The conversation or visit: statistics cluster by it, splits never part it. */
  id?: string
  /** Who, as the product names people. */
  user?: string
  /** Whatever a question may ask for later, e.g. `{ plan: 'pro' }`. */
  tags?: Readonly<Record<string, string>>
}

/** Everything that `fn` starts belongs to this session. Returns what `fn` returns. */
export function withSession<Result>(session: SessionOptions, fn: () => Result): Result {
  const above = currentFrame()
  return enterFrame(
    {
      ...above,
      agents: above?.agents ?? [],
      ...(session.id === undefined ? {} : { session: session.id }),
      ...(session.user === undefined ? {} : { user: session.user }),
      ...(session.tags === undefined ? {} : { tags: { ...above?.tags, ...session.tags } }),
    },
    fn,
  )
}
