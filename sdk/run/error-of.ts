// An error as a span says it: the exception's name, and its message. Products throw anything.
import { wholeText } from './json-value.ts'

/** Never throws. */
export function errorOf(error: unknown): { type: string; message: string } {
  if ((typeof error !== 'object' || error === null) && typeof error !== 'function') return { type: 'Error', message: String(error) }
  const message = read(() => messageOf(error), '')
  const name = read(() => Reflect.get(error, 'name'), undefined)
  if (isName(name)) return { type: name, message }
  const ofClass = read(() => error.constructor.name, undefined)
  return { type: isName(ofClass) && ofClass !== 'Object' ? ofClass : 'Error', message }
}

function messageOf(error: object): string {
  const message: unknown = Reflect.get(error, 'message')
  if (typeof message === 'string') return message
  if (message !== undefined) return wholeText(message) ?? ''
  const said = read(() => String(error), '[object Object]')
  return said === '[object Object]' ? (wholeText(error) ?? '') : said
}

function isName(name: unknown): name is string {
  return typeof name === 'string' && name !== ''
}

function read<T>(work: () => T, otherwise: T): T {
  try {
    return work()
  } catch {
    return otherwise
  }
}
