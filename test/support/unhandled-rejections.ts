// What a process is told of the errors that nobody handles.

/** Reasons of the rejections that nobody has handled when `work` is over, and the event loop has turned. The test runner's own listeners hear nothing meanwhile. */
export async function unhandledRejections(work: () => unknown): Promise<unknown[]> {
  const seen: unknown[] = []
  const before = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', (reason) => void seen.push(reason))
  try {
    await work()
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate)
    return seen
  } finally {
    process.removeAllListeners('unhandledRejection')
    for (const listener of before) process.on('unhandledRejection', listener)
  }
}
