// Tells data, which can be recorded and given again, from what is only good where it is: callbacks, streams, signals, emitters.

/** What such an object is used by. */
const uses = ['on', 'addEventListener', 'write', 'enqueue', 'getWriter']

/** Nothing at all counts too. Never throws: what cannot be looked at is no data. */
export function isHandle(value: unknown): boolean {
  if (value === undefined || typeof value === 'function') return true
  if (typeof value !== 'object' || value === null) return false
  try {
    return uses.some((use) => typeof Reflect.get(value, use) === 'function')
  } catch {
    return true
  }
}
