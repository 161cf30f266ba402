// Asks a judge model over Chat Completions: with a time limit, and again where the endpoint is busy or away.
import { setTimeout as wait } from 'node:timers/promises'
import { dialectOf, type Json, parseJson, type Usage } from '@homeground/sdk/trace'
import { z } from 'zod'
import { requestFailure } from '../../gateway/request-failure.ts'
import { retryAfterMs, waitMs } from '../../gateway/retry-after.ts'

export interface JudgeCall {
  model: string
  system: string
  user: string
  url: string | undefined
  apiKeyEnv: string | undefined
  parameters: Record<string, Json>
  timeoutMs: number
}

export interface JudgeDeps {
  fetch: typeof globalThis.fetch
  /** Where keys and the default URL are looked up. */
  environment: Readonly<Record<string, string | undefined>>
  sleep: (ms: number) => Promise<unknown>
  /** Told of each answer, whether a verdict can be read from it or not: it was paid for. */
  onAnswer?(model: string, usage: Usage): void
}

export const systemJudgeDeps: JudgeDeps = {
  fetch: (...request) => globalThis.fetch(...request),
  environment: process.env,
  // It keeps the process: with nothing else to do, node would end in the middle of a question.
  sleep: (ms) => wait(ms),
}

/** Tries of one call, the first included. Being told to wait (429) is none. */
const mostTries = 4
/** So long one call waits in all where the endpoint says when to come back: a limit by the minute must not cost a score. */
const patienceMs = 120_000
/** And where it does not say: it may be out of quota for good. */
const blindPatienceMs = 30_000

const responseSchema = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string().nullable() }), finish_reason: z.string().nullish() })).min(1),
})

/** The answer's text, or why there is none. Never throws. */
export async function askJudge(call: JudgeCall, deps: JudgeDeps): Promise<{ text: string } | { fault: string }> {
  const { environment } = deps
  const url = call.url ?? environment['HOMEGROUND_JUDGE_URL'] ?? environment['OPENAI_BASE_URL']
  if (url === undefined) return { fault: 'no judge endpoint: give the criterion a url, or set HOMEGROUND_JUDGE_URL' }
  const key =
    call.apiKeyEnv === undefined ? (environment['HOMEGROUND_JUDGE_API_KEY'] ?? environment['OPENAI_API_KEY']) : environment[call.apiKeyEnv]
  if (call.apiKeyEnv !== undefined && key === undefined) return { fault: `the environment variable ${call.apiKeyEnv} is not set` }
  let failed = 0
  let waited = 0
  for (let attempt = 1; ; attempt++) {
    const answer = await once(url, key, call, deps)
    if (!('busy' in answer)) return answer
    const wait = waitMs(attempt, answer.retryAfterMs, 250 * 4 ** (attempt - 1))
    if (!answer.limited) failed += 1
    const patience = answer.retryAfterMs === undefined ? blindPatienceMs : patienceMs
    if (failed === mostTries || waited + wait > patience) return { fault: `${answer.busy} (asked ${attempt} times)` }
    waited += wait
    await deps.sleep(wait)
  }
}

type Once = { text: string } | { fault: string } | { busy: string; limited: boolean; retryAfterMs: number | undefined }

async function once(url: string, key: string | undefined, call: JudgeCall, deps: JudgeDeps): Promise<Once> {
  try {
    const response = await deps.fetch(`${url.replace(/\/$/, '')}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({
        ...call.parameters,
        model: call.model,
        messages: [
          { role: 'system', content: call.system },
          { role: 'user', content: call.user },
        ],
      }),
      signal: AbortSignal.timeout(call.timeoutMs),
    })
    if (response.status === 429 || response.status >= 500) {
      const said = (await response.text()).trim().slice(0, 200)
      const busy = `judge ${call.model}: HTTP ${response.status}${said === '' ? '' : ` ${said}`}`
      return { busy, limited: response.status === 429, retryAfterMs: retryAfterMs(response.headers, Date.now()) }
    }
    if (!response.ok) return { fault: `judge ${call.model}: HTTP ${response.status} ${(await response.text()).slice(0, 200)}` }
    const text = await response.text()
    const body = parseJson(text)
    if (body === undefined) return { fault: `judge ${call.model}: ${url} answered with what is no JSON: ${text.slice(0, 200)}` }
    deps.onAnswer?.(call.model, usageOf(body))
    const parsed = responseSchema.safeParse(body)
    const [choice] = parsed.data?.choices ?? []
    if (choice === undefined || choice.message.content === null) return { fault: `judge ${call.model}: the response has no text` }
    if (choice.finish_reason === 'length') return { fault: `judge ${call.model}: the answer was cut off` }
    return { text: choice.message.content }
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError')
      return { fault: `judge ${call.model}: no answer within ${call.timeoutMs} ms` }
    return { busy: `judge ${call.model}: ${url} did not answer: ${requestFailure(error).message}`, limited: false, retryAfterMs: undefined }
  }
}

/** Empty where the endpoint counts nothing. */
function usageOf(body: Json): Usage {
  return dialectOf('openai.chat')?.readResponse(body)?.usage ?? {}
}
