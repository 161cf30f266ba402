// An arm's HTTP endpoint: where it is, which key it gets, and how often a request is tried. Knows no dialect's bodies.
import { HomegroundError, type Json } from '@homeground/sdk/trace'
import type { Arm } from '../run/types.ts'
import { bodyText } from './body-text.ts'

export interface EndpointDeps {
  fetch: typeof globalThis.fetch
  /** Environment variables: keys and default base URLs. */
  env: Readonly<Record<string, string | undefined>>
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>
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

/** How often a request is tried before its failure is the answer. */
const attemptsAllowed = 5

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
 * Posts JSON. Tries again after 408, 409, 429, 5xx and broken connections, as long as Retry-After says, else 0.5, 1, 2, 4 s spread by a quarter.
 * Rejects only when the signal is aborted.
 */
export async function post(
  endpoint: Endpoint,
  body: { [key: string]: Json },
  deps: EndpointDeps,
  signal?: AbortSignal,
): Promise<EndpointResponse> {
  const text = bodyText(body)
  for (let attempts = 1; ; attempts += 1) {
    signal?.throwIfAborted()
    let wait = 500 * 2 ** (attempts - 1) * (0.75 + deps.random() / 2)
    let answer: EndpointResponse
    try {
      const response = await deps.fetch(endpoint.url, {
        method: 'POST',
        headers: endpoint.headers,
        body: text,
        ...(signal ? { signal } : {}),
      })
      answer = { status: response.status, text: await response.text(), attempts }
      wait = retryAfterMs(response.headers) ?? wait
      if (!isRetryable(response.status)) return answer
    } catch (error) {
      signal?.throwIfAborted()
      answer = { status: 502, text: '', attempts, failure: failureOf(error) }
    }
    if (attempts >= attemptsAllowed) return answer
    await deps.sleep(wait, signal)
  }
}

function isRetryable(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500
}

function retryAfterMs(headers: Headers): number | undefined {
  const ms = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (ms >= 0) return Math.min(ms, 60_000)
  const after = headers.get('retry-after')
  if (after === null) return undefined
  const seconds = Number(after)
  const wait = Number.isNaN(seconds) ? Date.parse(after) - Date.now() : seconds * 1_000
  return wait >= 0 ? Math.min(wait, 60_000) : undefined
}

/** `fetch failed` says nothing; its cause does. */
function failureOf(error: unknown): { type: string; message: string } {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code: unknown = typeof cause === 'object' && cause !== null ? Reflect.get(cause, 'code') : undefined
  const message = cause instanceof Error ? cause.message : String(cause)
  return {
    type: typeof code === 'string' ? code : cause instanceof Error ? cause.name : 'Error',
    message: message === '' ? String(code) : message,
  }
}
