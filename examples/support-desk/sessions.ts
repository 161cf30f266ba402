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
  /** The agent has begun an answer; `trace` is undefined where nothing is recorded. */
  answering(id: string, trace: string | undefined): void
  /** Keeps what was said; returns the answer's message id. */
  answered(id: string, question: string, reply: string): string
}

/** Keeps at most `limit` sessions; the oldest goes first. */
export function createSessions(options: { limit?: number } = {}): Sessions {
  const limit = options.limit ?? 10_000
  const sessions = new Map<string, Session>()
  const traces = new Map<string, string>()
  return {
    open(customer) {
      const session: Session = { id: randomUUID(), customer, turns: [], answers: new Map() }
      sessions.set(session.id, session)
      for (const oldest of sessions.keys()) {
        if (sessions.size <= limit) break
        sessions.delete(oldest)
        traces.delete(oldest)
      }
      return session
    },
    get: (id) => sessions.get(id),
    history: (id) => (sessions.get(id)?.turns ?? []).map((turn) => ({ ...turn })),
    answering(id, trace) {
      // A replay's session is not one of ours.
      if (sessions.has(id) && trace !== undefined) traces.set(id, trace)
    },
    answered(id, question, reply) {
      const message = randomUUID()
      const session = sessions.get(id)
      session?.turns.push({ role: 'user', content: question }, { role: 'assistant', content: reply })
      session?.answers.set(message, traces.get(id) ?? '')
      return message
    },
  }
}
