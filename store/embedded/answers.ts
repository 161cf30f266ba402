// Whether an engine answers: a port that accepts is no proof, since the kernel still accepts for a process that is being killed.

/** False after a second without an answer. */
export async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/ping`, { signal: AbortSignal.timeout(1_000) })).ok
  } catch {
    return false
  }
}
