// Chat sessions: who talks, and what was said. In memory.
import { randomUUID } from 'node:crypto'

export interface Turn {
  role: 'user' | 'assistant'
  content: string
}

export interface Session {
  id: string
  customer: string
  turns: Turn[]
  /** The trace of each answer, by message id: a rating that comes later finds its episode by it. */
  answers: Map<string, string>
}

export interface Sessions {
  open(customer: string): Session
  get(id: string): Session | undefined
  /** What was said so far, oldest first. */
  history(id: string): Turn[]
}

/** Keeps at most `limit` sessions; the oldest goes first. */
export function createSessions(options: { limit?: number } = {}): Sessions {
  const limit = options.limit ?? 10_000
  const sessions = new Map<string, Session>()
  return {
    open(customer) {
      const session: Session = { id: randomUUID(), customer, turns: [], answers: new Map() }
      sessions.set(session.id, session)
      for (const oldest of sessions.keys()) {
        if (sessions.size <= limit) break
        sessions.delete(oldest)
      }
      return session
    },
    get: (id) => sessions.get(id),
    history: (id) => (sessions.get(id)?.turns ?? []).map((turn) => ({ ...turn })),
  }
}
