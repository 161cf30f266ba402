// Runs of one environment for tests: a desk asks for an order, hears the user out and refunds; a clerk stands in for the model.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Episode } from '@homeground/sdk/trace'
import { afterEach, beforeEach } from 'vitest'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import type { Environment, ToolOverride } from '../../../replay/environment/types.ts'
import { openRun } from '../../../replay/run/open-run.ts'
import { type RunOptions, runRollouts } from '../../../replay/run/run-rollouts.ts'
import type { Arm, Rollout } from '../../../replay/run/types.ts'
import { calls, episodeOf, result, text, toolSpan } from './episodes.ts'

/** Of the test that runs. */
export let folder: string
/** The last that `open` made; closed after the test. */
export let environment: Environment
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-run-'))
})
afterEach(async () => {
  await environment?.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

/** Asks for an order, hears the user out, refunds. */
export const desk = (name: string): Episode =>
  episodeOf(
    name,
    [
      text('system', 'You are the desk.'),
      text('user', `Where is order ${name}?`),
      calls({ id: 'c1', name: 'get_order', arguments: { id: name } }),
      result('c1', 'lost'),
      text('assistant', 'It is lost.'),
      text('user', 'Then refund it.'),
      calls({ id: 'c2', name: 'refund', arguments: { id: name } }),
      result('c2', 'done'),
      text('assistant', 'Refunded.'),
    ],
    {
      tools: [
        toolSpan('get_order', { id: name }, 7, { callId: 'c1', result: 'lost' }),
        toolSpan('refund', { id: name }, 27, { callId: 'c2', effect: 'write', result: 'done' }),
      ],
      feedback: [
        {
          name: 'expected_actions',
          value: JSON.stringify([{ name: 'refund', arguments: { id: name } }]),
          source: 'human',
          at: '2026-01-05T10:00:00.000Z',
        },
      ],
    },
  )

export async function open(names: string[], tools: Record<string, ToolOverride> = {}): Promise<Environment> {
  await buildEnvironment(names.map(desk), {
    name: 'desk',
    folder: path.join(folder, 'env'),
    homeground: '0.1.0',
    harness: { kind: 'loop', maxSteps: 8 },
    tools,
  })
  environment = await openEnvironment(path.join(folder, 'env'))
  return environment
}

export interface ChatMessage {
  role: string
  content?: string
}

/** An endpoint whose model does what `policy` says to the messages. */
export function endpoint(
  policy: (messages: ChatMessage[], body: Record<string, unknown>) => object,
  seen: Record<string, unknown>[] = [],
): typeof fetch {
  return async (_url, init) => {
    const body: Record<string, unknown> & { messages: ChatMessage[] } = JSON.parse(String(init?.body))
    seen.push(body)
    const message = { role: 'assistant', content: null, ...policy(body.messages, body) }
    const finish = 'tool_calls' in message ? 'tool_calls' : 'stop'
    return Response.json({
      id: 'x',
      model: 'm',
      choices: [{ index: 0, message, finish_reason: finish }],
      usage: { prompt_tokens: 7, completion_tokens: 3 },
    })
  }
}

export const call = (name: string, args: object) => ({
  tool_calls: [{ id: 'n1', type: 'function', function: { name, arguments: JSON.stringify(args) } }],
})

/** Looks the order up, then refunds when asked; `careless` refunds without looking. */
export function clerk(messages: ChatMessage[], careless = false): object {
  const name = /order (\w+)/.exec(messages[1]?.content ?? '')?.[1]
  const last = messages.at(-1)
  if (last?.role === 'tool') return { content: last.content === 'lost' ? 'It is lost.' : 'Refunded.' }
  if (last?.content === 'Then refund it.') return call('refund', { id: name })
  return careless ? { content: 'No idea.' } : call('get_order', { id: name })
}

export const arms: Arm[] = [
  { name: 'careful', model: 'm1', url: 'http://arm.test/v1' },
  { name: 'careless', model: 'm2', url: 'http://arm.test/v1', parameters: { temperature: 0 } },
]

export async function run(
  options: Partial<RunOptions> = {},
  policy = (messages: ChatMessage[], body: Record<string, unknown>) => clerk(messages, body['model'] === 'm2'),
) {
  return await runRollouts(environment, {
    arms,
    folder: path.join(folder, 'run'),
    homeground: '0.1.0',
    deps: { fetch: endpoint(policy) },
    ...options,
  })
}

export async function linesOf(name = 'run'): Promise<Rollout[]> {
  const lines: Rollout[] = []
  for await (const line of (await openRun(path.join(folder, name))).rollouts()) lines.push(line)
  return lines
}

export const withoutTimes = (text: string) => text.replace(/"durationMs":[\d.]+/g, '"durationMs":0')
