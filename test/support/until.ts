// Waiting in tests: for a condition, with a limit, and an error that says what was there instead.

/** Resolves once `condition` holds. @throws Error with `found()`, what was there instead, when `timeoutMs` have passed */
export async function until(condition: () => boolean | Promise<boolean>, found: () => string, timeoutMs = 10_000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms: ${found()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
