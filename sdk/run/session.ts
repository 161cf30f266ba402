// hg.session and hg.captureContent: who the work inside is done for, and whether its content is recorded.
import { currentFrame, enterFrame, type Frame } from './context.ts'
import type { Recorder } from './recorder.ts'

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
  const frame = recorder.guard(() => frameOf(session), undefined)
  return frame === undefined ? fn() : enterFrame(frame, fn)
}

function frameOf({ id, user, tags }: SessionOptions): Frame {
  const above = currentFrame()
  return {
    ...above,
    agents: above?.agents ?? [],
    ...(id === undefined ? {} : { session: id }),
    ...(user === undefined ? {} : { user }),
    ...(tags === undefined ? {} : { tags: { ...above?.tags, ...tags } }),
  }
}

/** Whether content is recorded of everything that `fn` starts; agents and tools inside may say otherwise. */
export function withContent<Result>(capture: boolean, fn: () => Result): Result {
  const above = currentFrame()
  return enterFrame({ ...above, agents: above?.agents ?? [], captureContent: capture }, fn)
}
