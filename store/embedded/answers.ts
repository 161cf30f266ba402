// Whether an engine answers. A port that accepts is no proof, since the kernel still accepts for a process that is being killed; nor is any answer, since between the
// choice of a free port and the engine's first word somebody else may have taken it.
import type { EngineAddress } from './address.ts'

/** What the engine says at its root, to everybody: which process it is. */
export function greeting({ pid, start }: Pick<EngineAddress, 'pid' | 'start'>): string {
  return `homeground engine ${pid} ${start}`
}

/** False after a second without an answer, and where somebody else answers. */
export async function answers(address: Pick<EngineAddress, 'url' | 'pid' | 'start'>): Promise<boolean> {
  try {
    const response = await fetch(`${address.url}/`, { signal: AbortSignal.timeout(1_000) })
    return (await response.text()).trim() === greeting(address)
  } catch {
    return false
  }
}
