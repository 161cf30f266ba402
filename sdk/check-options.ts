// Refuses options that cannot mean anything, or not what they seem to: `enabled: 'false'` would record. By hand, since the main entry brings no schema library along.
import { redactorOrder } from './privacy/redactors.ts'
import type { HomegroundOptions } from './settings.ts'
import { HomegroundError } from './trace/error.ts'

/** What is wrong with a value that was given, as the end of a sentence; `undefined` where it is fine. */
type Check = (value: unknown) => string | undefined

const flag = fits((value) => typeof value === 'boolean', 'true or false')
const word = fits((value) => typeof value === 'string' && value.trim() !== '', 'a text that is not empty')
const call = fits((value) => typeof value === 'function', 'a function')
const delay = within(2 ** 31 - 1)
const bytes = within(Number.MAX_SAFE_INTEGER)

const checks: { readonly [Name in keyof Required<HomegroundOptions>]: Check } = {
  project: word,
  endpoint: (value) => endpointFault(value),
  apiKey: fits((value) => typeof value === 'string' && isHeaderValue(value), 'a text of printable ASCII characters'),
  exporter: fits((value) => typeof member(value, 'export') === 'function', 'an object with a function `export`'),
  provider: fits((value) => value === 'own' || value === 'host', "'own' or 'host'"),
  enabled: flag,
  captureContent: flag,
  emitMessages: flag,
  allowReplay: flag,
  redact: (value) => {
    const wrong = (Array.isArray(value) ? value : [value]).find((each) => typeof each !== 'function' && !isRedactor(each))
    return wrong === undefined ? undefined : `names ${shown(wrong)}, which is none of ${redactorOrder.join(', ')}, and no function`
  },
  redactKey: fits((value) => typeof value === 'string', 'a text'),
  waitUntil: call,
  sample: within(1),
  variants: (value) => {
    if (!isRecord(value)) return `is ${shown(value)}, not an object of variants by name`
    const wrong = Object.entries(value).find(([, canary]) => member(canary, 'value') === undefined || within(1)(member(canary, 'share')))
    return wrong === undefined
      ? undefined
      : `has for ${JSON.stringify(wrong[0])} ${shown(wrong[1])}, not { value, share } with a share from 0 to 1`
  },
  maxQueueBytes: bytes,
  maxBodyBytes: bytes,
  spool: (value) => {
    if (word(member(value, 'folder')) !== undefined) return `is ${shown(value)}, not { folder } with a folder’s path`
    const most = member(value, 'maxBytes')
    return most === undefined || bytes(most) === undefined ? undefined : `has \`maxBytes\`, which ${bytes(most)}`
  },
  exportDelayMs: delay,
  exportTimeoutMs: delay,
  serviceName: word,
}

/** @throws HomegroundError invalid-argument, for the first option that cannot be used and for a name that is none */
export function checkOptions(given: unknown): HomegroundOptions {
  if (word(member(given, 'project')) !== undefined)
    throw new HomegroundError(
      'invalid-argument',
      `homeground(): \`project\` is ${shown(member(given, 'project'))}, not a text that is not empty`,
      {
        hint: "Name the product: homeground({ project: 'my-product' }).",
      },
    )
  for (const [name, value] of Object.entries(given as object)) {
    if (value === undefined) continue
    const fault = isOption(name) ? checks[name](value) : 'is no option'
    if (fault === undefined) continue
    throw new HomegroundError('invalid-argument', `homeground(): \`${name}\` ${fault}`, {
      hint: isOption(name) ? 'Give it so, or leave it out for the default.' : `Options are ${Object.keys(checks).join(', ')}.`,
    })
  }
  // Each was checked.
  return given as HomegroundOptions
}

/** What is wrong with the collector's address; never shows it, since a password may be in it. */
export function endpointFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return `is ${shown(value)}, not a URL as text, e.g. 'http://127.0.0.1:4318'`
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return 'is not an http or https URL, e.g. http://127.0.0.1:4318'
  const { username, password, search, hash } = new URL(value)
  if (username + password !== '') return 'has a user name or password in it, which fetch refuses: give `apiKey` (HOMEGROUND_API_KEY)'
  return search + hash === '' ? undefined : 'has a query or fragment: give the collector’s base URL, e.g. http://127.0.0.1:4318'
}

/** Whether it may be sent as a header: a line break in a key, e.g. from a file, would fail every request. */
export function isHeaderValue(value: string): boolean {
  return /^[\x20-\x7e]*$/.test(value)
}

function fits(test: (value: unknown) => boolean, expected: string): Check {
  return (value) => (test(value) ? undefined : `is ${shown(value)}, not ${expected}`)
}

function within(most: number): Check {
  return fits((value) => typeof value === 'number' && value >= 0 && value <= most, `a number from 0 to ${most}`)
}

function isOption(name: string): name is keyof HomegroundOptions {
  return Object.hasOwn(checks, name)
}

function isRedactor(value: unknown): boolean {
  return redactorOrder.some((each) => each === value)
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function member(value: unknown, key: string): unknown {
  return isRecord(value) ? Reflect.get(value, key) : undefined
}

/** A secret may have been given in the wrong place: of a text only that it is one. */
function shown(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'empty' : value.length <= 16 ? JSON.stringify(value) : 'a text'
  if (typeof value === 'number' || typeof value === 'boolean' || value === undefined || value === null) return String(value)
  return Array.isArray(value) ? 'a list' : typeof value === 'function' ? 'a function' : 'an object'
}
