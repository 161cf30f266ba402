// An arm's HTTP endpoint: where it is, which key it gets, and how often a request is tried. Knows no dialect's bodies.
import { HomegroundError } from '@homeground/sdk/trace'
import type { Arm } from '../run/types.ts'
import type { ArmGate } from './arm-gate.ts'
import { requestFailure } from './request-failure.ts'
import { retryAfterMs as retryAfter, waitMs } from './retry-after.ts'

export interface EndpointDeps {
  fetch: typeof globalThis.fetch
  /** Environment variables: keys and default base URLs. */
  env: Readonly<Record<string, string | undefined>>
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>
  /** Milliseconds since the epoch. */
  now(): number
  /** In [0, 1): spreads retries. */
  random(): number
}

export interface Endpoint {
  url: string
  headers: Record<string, string>
}

export interface EndpointResponse {
  status: number
  text: string
  attempts: number
  /** Set where no response came at all. */
  failure?: { type: string; message: string }
}

const defaults = {
  'openai.chat': { path: '/chat/completions', base: 'https://api.openai.com/v1', baseEnv: 'OPENAI_BASE_URL', keyEnv: 'OPENAI_API_KEY' },
  'openai.responses': { path: '/responses', base: 'https://api.openai.com/v1', baseEnv: 'OPENAI_BASE_URL', keyEnv: 'OPENAI_API_KEY' },
  'anthropic.messages': {
    path: '/v1/messages',
    base: 'https://api.anthropic.com',
    baseEnv: 'ANTHROPIC_BASE_URL',
    keyEnv: 'ANTHROPIC_API_KEY',
  },
} as const

/** How often a request is tried before its failure is the answer. Being told to wait is no failure. */
const attemptsAllowed = 5
/** So long a request waits in all for an endpoint that says: not now. */
const patienceMs = 10 * 60_000

/**
 * The vendor's own key goes to the vendor's own address (or the one that its variable names) only; an arm with a `url` names its key.
 * @throws HomegroundError invalid-settings: `apiKeyEnv` names a variable that is not set
 */
export function endpointOf(arm: Arm, env: EndpointDeps['env']): Endpoint {
  const { path, base, baseEnv, keyEnv } = defaults[arm.api ?? 'openai.chat']
  const root = (arm.url ?? env[baseEnv] ?? base).replace(/\/+$/, '')
  const keyName = arm.apiKeyEnv ?? (arm.url === undefined ? keyEnv : undefined)
  const key = keyName === undefined ? undefined : env[keyName]
  if (keyName !== undefined && arm.apiKeyEnv !== undefined && key === undefined) {
    throw new HomegroundError('invalid-settings', `arm ${arm.name}: the environment variable ${keyName} is not set`, {
      hint: `set ${keyName}, or take apiKeyEnv out of the arm`,
    })
  }
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (arm.api === 'anthropic.messages') {
    headers['anthropic-version'] = '2023-06-01'
    if (key !== undefined) headers['x-api-key'] = key
  } else if (key !== undefined) headers['authorization'] = `Bearer ${key}`
  // A base that ends in /v1 already, as people paste it.
  const url = root.endsWith('/v1') && path.startsWith('/v1/') ? `${root}${path.slice(3)}` : `${root}${path}`
  return { url, headers }
}

/**
 * Posts JSON text. Tries again after 408, 409, 5xx and broken connections, as long as Retry-After says, else 0.5, 1, 2, 4 s spread by a quarter. Where the endpoint limits its rate (429, or a
 * Retry-After), all that goes to it through the gate waits with it, and no attempt is counted. Rejects only when the signal is aborted.
 */
export async function post(
  endpoint: Endpoint,
  text: string,
  deps: EndpointDeps,
  { gate, signal, onWait = () => () => {}, onRetry }: PostOptions = {},
): Promise<EndpointResponse> {
  let counted = 0
  let waited = 0
  const waiting = async <Result>(wait: Promise<Result>): Promise<Result> => {
    const over = onWait()
    return await wait.finally(over)
  }
  const enter = async (): Promise<() => void> => {
    if (gate === undefined) return () => {}
    return gate.enterNow(deps.now()) ?? (await waiting(gate.enter(deps, signal)))
  }
  for (let attempts = 1; ; attempts += 1) {
    signal?.throwIfAborted()
    const { answer, limited, retryAfterMs } = await once(endpoint, text, deps, { enter, signal, attempts })
    if (!isRetryable(answer.status)) return answer
    const wait = waitMs(attempts, retryAfterMs, 500 * 2 ** (attempts - 1) * (0.75 + deps.random() / 2))
    if (limited) gate?.pauseUntil(deps.now() + wait)
    else counted += 1
    if (counted >= attemptsAllowed || waited + wait > patienceMs) return answer
    waited += wait
    onRetry?.(answer)
    const slept = deps.sleep(wait, signal)
    await (limited ? waiting(slept) : slept)
  }
}

export interface PostOptions {
  gate?: ArmGate | undefined
  signal?: AbortSignal | undefined
  /** Waiting begins; what it gives is called when it is over. Not told of the pauses after failures. */
  onWait?: (() => () => void) | undefined
  /** Told of each answer that is no last word. */
  onRetry?: ((answer: EndpointResponse) => void) | undefined
}

interface Tried {
  answer: EndpointResponse
  /** The endpoint said: not now. */
  limited: boolean
  retryAfterMs: number | undefined
}

async function once(
  endpoint: Endpoint,
  body: string,
  deps: EndpointDeps,
  { enter, signal, attempts }: { enter(): Promise<() => void>; signal: AbortSignal | undefined; attempts: number },
): Promise<Tried> {
  const leave = await enter()
  try {
    const response = await deps.fetch(endpoint.url, { method: 'POST', headers: endpoint.headers, body, ...(signal ? { signal } : {}) })
    const retryAfterMs = retryAfter(response.headers, deps.now())
    const answer = { status: response.status, text: await response.text(), attempts }
    return { answer, limited: response.status === 429 || (isRetryable(response.status) && retryAfterMs !== undefined), retryAfterMs }
  } catch (error) {
    signal?.throwIfAborted()
    return { answer: { status: 502, text: '', attempts, failure: requestFailure(error) }, limited: false, retryAfterMs: undefined }
  } finally {
    leave()
  }
}

function isRetryable(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500
}
