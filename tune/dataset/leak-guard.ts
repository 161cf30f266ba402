// No session may stand in two splits: what was seen in training would be tested on.
import { HomegroundError } from '@homeground/sdk/trace'
import type { Split } from '../../replay/environment/types.ts'

export class LeakGuard {
  private readonly seen = new Map<string, { split: Split; id: string }>()

  /** @throws HomegroundError session-leak: the session and both episodes */
  note(session: string | undefined, split: Split | undefined, id: string): void {
    if (session === undefined || split === undefined) return
    const earlier = this.seen.get(session)
    if (earlier === undefined) this.seen.set(session, { split, id })
    else if (earlier.split !== split) {
      throw new HomegroundError(
        'session-leak',
        `session-leak: session ${session} is in ${earlier.split} (${earlier.id}) and in ${split} (${id}); no row was written`,
        { hint: 'build the environments from one set of sessions, or give only one of them' },
      )
    }
  }
}
