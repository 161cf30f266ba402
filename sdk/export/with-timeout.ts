// A deadline for work that must not hold anybody up.

import { clearTimeout, setTimeout } from 'node:timers'

/** True when `work` resolved in time; false when it rejected or the time was over first. */
export async function withTimeout(timeoutMs: number, work: () => Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs)
  })
  try {
    return await Promise.race([work().then(() => true), over])
  } catch {
    return false
  } finally {
    clearTimeout(timer)
  }
}
