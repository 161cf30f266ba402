// What an arm's rollouts share on the way to its endpoint: a limit, a pause, a cache. With the vendors' own clients in front.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterEach, describe, expect, test } from 'vitest'
import { answerCache } from '../../../replay/gateway/answer-cache.ts'
import { ArmGate } from '../../../replay/gateway/arm-gate.ts'
import { type ArmModelOptions, armModel } from '../../../replay/gateway/arm-model.ts'
import { type GatewayServer, serveGateway } from '../../../replay/gateway/serve-gateway.ts'
import type { GatewayAnswer } from '../../../replay/gateway/types.ts'

const gateways: GatewayServer[] = []
const folders: string[] = []
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.close()
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true })
})

/** A clock that sleeping moves; others that sleep meanwhile are not held up. */
function clock() {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const slept: number[] = []
  return {
    slept,
    now: () => now,
    sleep: async (ms: number) => {
      slept.push(ms)
      const at = now + ms
      await new Promise((resolve) => setImmediate(resolve))
      now = Math.max(now, at)
    },
  }
}

/** An endpoint that speaks chat completions and says what `answer` says. */
async function start(
  answer: (body: string, time: { now(): number }) => Response | Promise<Response>,
  options: ArmModelOptions = {},
  time = clock(),
): Promise<{ openai: OpenAI; anthropic: Anthropic; answers: GatewayAnswer[] }> {
  const arm = { name: 'a', model: 'm', url: 'http://arm.test' }
  const deps = { fetch: (async (_url, init) => answer(String(init?.body), time)) as typeof fetch, env: {}, random: () => 0.5, ...time }
  const answers: GatewayAnswer[] = []
  const model = armModel(arm, deps, options)
  const gateway = await serveGateway({
    models: ['m'],
    model: async (request) => {
      const given = await model.answer(request)
      answers.push(given)
      return given
    },
  })
  gateways.push(gateway)
  const { url, key } = gateway
  return { openai: new OpenAI({ baseURL: `${url}/v1`, apiKey: key }), anthropic: new Anthropic({ baseURL: url, apiKey: key }), answers }
}

const says = (content: string, more: object = {}) =>
  Response.json({ id: 'r', model: 'm', choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }], ...more })

const ask = async (client: OpenAI, content = 'hello'): Promise<string | null | undefined> =>
  (await client.chat.completions.create({ model: 'product', messages: [{ role: 'user', content }] })).choices[0]?.message.content

const askAnthropic = async (client: Anthropic, content = 'hello'): Promise<string | undefined> => {
  const message = await client.messages.create({ model: 'product', max_tokens: 9, messages: [{ role: 'user', content }] })
  const [block] = message.content
  return block?.type === 'text' ? block.text : undefined
}

describe('an endpoint that limits its rate', () => {
  test.each([
    ['seconds', (): [string, string] => ['retry-after', '7']],
    ['milliseconds', (): [string, string] => ['retry-after-ms', '7000']],
    ['a date', (now: number): [string, string] => ['retry-after', new Date(now + 7_000).toUTCString()]],
  ])('is asked again when it said, in %s, however often it says so', async (_, header) => {
    const time = clock()
    let times = 0
    const { openai, anthropic, answers } = await start(
      () => {
        times += 1
        return times % 8 === 0 ? says('at last') : new Response('{}', { status: 429, headers: [header(time.now())] })
      },
      {},
      time,
    )
    expect([await ask(openai), await askAnthropic(anthropic)]).toEqual(['at last', 'at last'])
    expect(answers.map(({ attempts }) => attempts)).toEqual([8, 8])
    expect(time.slept).toEqual(new Array(14).fill(7_000))
  })

  test('is left alone by all that ask it, not by the one that was told alone', async () => {
    const time = clock()
    const gate = ArmGate.create()
    let waits = 0
    let over = 0
    const at: number[] = []
    const began = time.now()
    const { openai } = await start(
      () => {
        at.push(time.now() - began)
        return at.length === 1 ? new Response('{}', { status: 429, headers: { 'retry-after': '20' } }) : says('yes')
      },
      {
        gate,
        onWait: () => {
          waits += 1
          return () => {
            over += 1
          }
        },
      },
      time,
    )
    const first = ask(openai, 'one')
    while (at.length === 0) await new Promise((resolve) => setImmediate(resolve))
    await Promise.all([first, ask(openai, 'two'), ask(openai, 'three')])
    expect(at).toHaveLength(4)
    expect(Math.min(...at.slice(1))).toBeGreaterThanOrEqual(20_000)
    expect([waits > 0, over]).toEqual([true, waits])
  })

  test('is given up after ten minutes, with its own words', async () => {
    const time = clock()
    const { openai, answers } = await start(() => Response.json({ error: { message: 'quota is used up' } }, { status: 429 }), {}, time)
    await expect(ask(openai)).rejects.toMatchObject({ status: 429, message: expect.stringContaining('quota is used up') })
    const total = time.slept.reduce((sum, ms) => sum + ms, 0)
    expect([total > 500_000, total <= 600_000, answers[0]?.status]).toEqual([true, true, 429])
  })

  test('is given up too where it says to come back at once, for ever', async () => {
    const time = clock()
    let times = 0
    // Ten minutes at a try a second, after four that were believed; without an end it would say `never`.
    const policy = () => (++times > 5_000 ? says('never') : new Response('{}', { status: 429, headers: { 'retry-after': '0' } }))
    const { openai } = await start(policy, {}, time)
    await expect(ask(openai)).rejects.toMatchObject({ status: 429 })
    expect(times).toBe(605)
  })

  test('may ask to wait with 503 too; a broken one is tried five times', async () => {
    let busy = 0
    const waiting = await start(() => (++busy < 9 ? new Response('{}', { status: 503, headers: { 'retry-after': '1' } }) : says('up')))
    expect(await ask(waiting.openai)).toBe('up')
    let broken = 0
    const dead = await start(() => {
      broken += 1
      return new Response('{}', { status: 500 })
    })
    await expect(ask(dead.openai)).rejects.toMatchObject({ status: 500 })
    expect(broken).toBe(5)
  })
})

describe('a limit of requests at once', () => {
  test('holds for all of an arm, and for both clients', async () => {
    let inside = 0
    let most = 0
    const { openai, anthropic } = await start(
      async () => {
        inside += 1
        most = Math.max(most, inside)
        await new Promise((resolve) => setTimeout(resolve, 20))
        inside -= 1
        return says('yes')
      },
      { gate: ArmGate.create(2) },
    )
    const asked = Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? ask(openai, `${n}`) : askAnthropic(anthropic, `${n}`)))
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['yes']))
    expect(most).toBe(2)
  })

  test('gives the place of a request that was called off, and of a thread that died, to the next', async () => {
    const gate = ArmGate.create(1)
    const deps = { now: () => 0, sleep: async () => {}, random: () => 0 }
    const leave = await gate.enter(deps, undefined)
    const off = new AbortController()
    const called = gate.enter(deps, off.signal)
    off.abort(new Error('called off'))
    await expect(called).rejects.toThrow('called off')
    const next = gate.enter(deps, undefined)
    leave()
    const leaveNext = await next
    // A thread that held the only place: our own id, as nothing else can enter here.
    const after = gate.enter(deps, undefined)
    gate.free(0)
    const leaveAfter = await after
    // Those who left late do not free what another holds by now.
    leaveNext()
    leaveAfter()
    expect(typeof (await gate.enter(deps, undefined))).toBe('function')
  })
})

describe('the cache', () => {
  function folderOf(): string {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-cache-'))
    folders.push(folder)
    return folder
  }

  test('answers what the same repeat asked before, and asks for every other repeat, seed, model and time', async () => {
    const folder = folderOf()
    let count = 0
    const counted = () => says(`answer ${++count}`)
    const rollout = async (sample: { seed: number; repeat: number }, ...contents: string[]) => {
      const { openai, answers } = await start(counted, { cache: answerCache({ folder }, sample) })
      const said: unknown[] = []
      for (const content of contents) said.push(await ask(openai, content))
      return [said, answers.map(({ cached }) => cached === true)]
    }
    const first = { seed: 1, repeat: 0 }
    // The same question twice in one rollout is two samples.
    expect(await rollout(first, 'hello', 'hello')).toEqual([
      ['answer 1', 'answer 2'],
      [false, false],
    ])
    expect(await rollout(first, 'hello', 'hello', 'hello')).toEqual([
      ['answer 1', 'answer 2', 'answer 3'],
      [true, true, false],
    ])
    expect(await rollout({ seed: 1, repeat: 1 }, 'hello')).toEqual([['answer 4'], [false]])
    expect(await rollout({ seed: 2, repeat: 0 }, 'hello')).toEqual([['answer 5'], [false]])
    expect(await rollout(first, 'good day')).toEqual([['answer 6'], [false]])
  })

  test('gives all repeats one answer only where it is asked to', async () => {
    const folder = folderOf()
    let count = 0
    for (const repeat of [0, 1, 2]) {
      const cache = answerCache({ folder, share: 'any' }, { seed: repeat, repeat })
      const { anthropic } = await start(() => says(`answer ${++count}`), { cache })
      expect(await askAnthropic(anthropic)).toBe('answer 1')
    }
  })

  test('keeps no failure and no answer that nobody can read', async () => {
    const cache = () => answerCache({ folder }, { seed: 0, repeat: 0 })
    const folder = folderOf()
    const bad = await start(() => new Response('{"error":{"message":"no"}}', { status: 400 }), { cache: cache() })
    await expect(ask(bad.openai)).rejects.toMatchObject({ status: 400 })
    const odd = await start(() => new Response('<html>'), { cache: cache() })
    await expect(ask(odd.openai)).rejects.toMatchObject({ status: 502 })
    expect(fs.readdirSync(folder)).toEqual([])
    const good = await start(() => says('yes'), { cache: cache() })
    expect(await ask(good.openai)).toBe('yes')
  })
})

describe('token ids and log-probabilities', () => {
  const tokens = { prompt_token_ids: [1, 2, 3] }
  const choice = {
    index: 0,
    message: { role: 'assistant', content: 'ok' },
    finish_reason: 'stop',
    token_ids: [7, 8],
    logprobs: {
      content: [
        { token: 'o', logprob: -0.5, bytes: null, top_logprobs: [] },
        { token: 'k', logprob: -0.25, bytes: null, top_logprobs: [] },
      ],
    },
  }

  test.each([false, true])('reach the client and the episode as the endpoint gave them, streamed: %s', async (stream) => {
    const { openai, anthropic, answers } = await start(() => says('', { ...tokens, choices: [choice] }))
    const request = { model: 'product', messages: [{ role: 'user' as const, content: 'hello' }] }
    const completion = stream
      ? await openai.chat.completions.stream({ ...request, stream: true }).finalChatCompletion()
      : await openai.chat.completions.create(request)
    expect(completion.choices[0]?.logprobs?.content?.map(({ logprob }) => logprob)).toEqual([-0.5, -0.25])
    await askAnthropic(anthropic)
    expect(answers.map((answer) => answer.tokens)).toEqual(
      new Array(2).fill({ promptIds: [1, 2, 3], completionIds: [7, 8], logprobs: [-0.5, -0.25] }),
    )
  })
})
