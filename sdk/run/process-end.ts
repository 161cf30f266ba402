// The end of the process, for however many `homeground()` there are: Node warns of a leak where each listens by itself.

export interface AtProcessEnd {
  /** Once, when the event loop is empty: what is asynchronous is still done. */
  idle(): void
  /** Nothing asynchronous happens any more. */
  exit(): void
}

const waiting = new Set<AtProcessEnd>()
const idle = new Set<AtProcessEnd>()

/** Gives a function that forgets it. */
export function atProcessEnd(work: AtProcessEnd): () => void {
  if (waiting.size === 0) {
    process.on('beforeExit', beforeExit)
    process.on('exit', exit)
  }
  waiting.add(work)
  idle.add(work)
  return () => {
    idle.delete(work)
    if (!waiting.delete(work) || waiting.size > 0) return
    process.removeListener('beforeExit', beforeExit)
    process.removeListener('exit', exit)
  }
}

function beforeExit(): void {
  const all = [...idle]
  idle.clear()
  for (const work of all) work.idle()
}

function exit(): void {
  for (const work of waiting) work.exit()
}
