// What leaves the process when a user redacts, and what never leaves it.
import { type HomegroundOptions, homeground, type RedactHook } from '@homeground/sdk'
import { Redaction, withSeam } from '@homeground/sdk/seam'
import { MemoryExporter, type ModelAnswer, startModelServer } from '@homeground/sdk/testing'
import type { Json, SpanRecord } from '@homeground/sdk/trace'
import fc from 'fast-check'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'

const email = 'ada@example.com'

async function setUp(options: Partial<HomegroundOptions>, script: readonly ModelAnswer[] = []) {
  const server = await startModelServer({ script })
  const exporter = new MemoryExporter()
  const hg = homeground({ project: 'test', exporter, redactKey: 'secret of the test', ...options })
  const client = hg.wrap(new OpenAI({ baseURL: server.url, apiKey: 'sk-test-0123456789abcdef0123', maxRetries: 0 }))
  const close = async () => {
    await hg.shutdown()
    await server.close()
  }
  return { server, exporter, hg, client, [Symbol.asyncDispose]: close }
}

const written = (value: unknown) => JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member))
const attribute = (exporter: MemoryExporter, name: string) =>
  exporter.spans.map(({ attributes }) => attributes[name]).filter((value) => value !== undefined)

describe('redaction', () => {
  it('reaches everything that leaves, with one word for one value, and nothing that the product sees', async () => {
    const toolAnswer = { toolCalls: [{ id: 'c1', name: 'find', arguments: { email, note: `of ${email}` } }] }
    await using t = await setUp({ redact: ['email'] }, [toolAnswer, `Sent to ${email}.`, { error: 400, message: `no ${email}` }])
    const found: unknown[] = []
    const find = t.hg.tool({
      name: 'find',
      parameters: {},
      execute: async (args: Record<string, unknown>) => {
        found.push(args['email'])
        return { owner: email, [email]: 1 }
      },
    })
    const agent = t.hg.agent('a', async (question: string) => {
      const messages = [{ role: 'user' as const, content: question }]
      const first = await t.client.chat.completions.create({ model: 'm', messages })
      for (const call of first.choices[0]?.message.tool_calls ?? []) if (call.type === 'function') await find.call(call)
      await t.hg.io('profile', () => ({ email }), { key: email })
      let said = ''
      for await (const chunk of await t.client.chat.completions.create({ model: 'm', messages, stream: true }))
        said += chunk.choices[0]?.delta.content ?? ''
      await t.client.chat.completions.create({ model: 'm', messages }).catch(() => {})
      t.hg.feedback('answer', `right, ${email}`, { comment: `said ${email}` })
      return said
    })
    const session = { id: `mail of ${email}`, user: email, tags: { who: email } }
    expect(await t.hg.session(session, () => agent(`I am ${email}`))).toBe(`Sent to ${email}.`)
    await t.hg
      .agent('b', async () => Promise.reject(new Error(`no such user: ${email}`)))()
      .catch(() => {})
    await t.hg.flush()
    const all = written([t.exporter.spans, t.exporter.feedback])
    expect(found).toEqual([email])
    expect(all).not.toContain(email)
    const words = new Set(all.match(/<email:[0-9a-f]+>/g))
    expect(words.size).toBe(1)
    const [word = ''] = words
    expect(attribute(t.exporter, 'user.id').every((user) => user === word)).toBe(true)
    expect(attribute(t.exporter, 'session.id')[0]).toBe(`mail of ${word}`)
    expect(attribute(t.exporter, 'homeground.tag.who')[0]).toBe(word)
    expect(attribute(t.exporter, 'gen_ai.tool.call.arguments')).toEqual([written({ email: word, note: `of ${word}` })])
    expect(attribute(t.exporter, 'gen_ai.tool.call.result')).toEqual([written({ owner: word, [word]: 1 })])
    expect(t.exporter.spans.at(-1)?.status).toEqual({ code: 2, message: `no such user: ${word}` })
    expect(t.exporter.feedback).toMatchObject([{ value: `right, ${word}`, comment: `said ${word}` }])
    expect(t.hg.stats()).toMatchObject({ internalErrors: 0, openSpans: 0 })
  })

  it('reaches the name of a tool that the model made up, and asks no hook about names', async () => {
    const seen: string[] = []
    const hook: RedactHook = (_, { path }) => void seen.push(path)
    await using t = await setUp({ redact: ['email', hook] })
    await t.hg.callTool({ name: `mail ${email}`, arguments: {} })
    await t.hg.flush()
    expect(written(t.exporter.spans)).not.toContain(email)
    expect(t.exporter.spans[0]?.name).toMatch(/^execute_tool mail <email:[0-9a-f]{8}>$/)
    expect(seen).not.toContain('name')
  })

  it('hooks change values by path, also inside of a tool call’s arguments; undefined leaves, null is a value', async () => {
    const seen: string[] = []
    const hook: RedactHook = (value, { path, pseudonym }) => {
      seen.push(path)
      if (path.endsWith('.password')) return pseudonym('password', String(value))
      if (path === 'tool.arguments.pin') return null
      return path === 'user' ? 'somebody' : undefined
    }
    await using t = await setUp({ redact: hook, emitMessages: true }, [
      { toolCalls: [{ name: 'f', arguments: { password: 'hunter2', pin: 1 } }] },
    ])
    const tool = t.hg.tool({ name: 'f', parameters: {}, execute: async () => 'ok' })
    await t.hg.session({ user: 'ada' }, () =>
      t.hg.agent('a', async () => {
        const answer = await t.client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
        for (const call of answer.choices[0]?.message.tool_calls ?? []) if (call.type === 'function') await tool.call(call)
      })(),
    )
    await t.hg.flush()
    expect(written(t.exporter.spans)).not.toContain('hunter2')
    expect(attribute(t.exporter, 'user.id')).toEqual(['somebody', 'somebody', 'somebody'])
    expect(JSON.parse(String(attribute(t.exporter, 'gen_ai.tool.call.arguments')[0]))).toEqual({
      password: expect.stringMatching(/^<password:[0-9a-f]{8}>$/),
      pin: null,
    })
    expect(String(attribute(t.exporter, 'gen_ai.output.messages')[0])).toMatch(/"password":"<password:/)
    expect(seen).toContain('response.choices.0.message.tool_calls.0.function.arguments.password')
    expect(seen).toContain('request.messages.0.content')
  })

  it('where a hook throws, the value does not leave, and the product does not notice', async () => {
    const hook: RedactHook = (value, { path }) => {
      if (typeof value === 'string' && path.startsWith('agent')) throw new Error('a fault of the hook')
      return undefined
    }
    await using t = await setUp({ redact: hook })
    expect(await t.hg.agent('a', async (_: string) => 'secret')('secret')).toBe('secret')
    await t.hg.flush()
    expect(written(t.exporter.spans)).not.toContain('secret')
    expect(t.exporter.spans[0]?.attributes['homeground.agent.input']).toBe('"[redaction failed]"')
    expect(t.hg.stats().internalErrors).toBe(2)
  })

  it('tokens and log-probabilities go where their text was changed, and stay where it was not', async () => {
    const redaction = new Redaction({ project: 'p', redact: ['email'], key: 'k' })
    const body = (content: string) =>
      written({ choices: [{ message: { content }, logprobs: { content: [{ token: 'ada', bytes: [97] }] }, token_ids: [1] }] })
    expect(JSON.parse(redaction.text(body(email), 'response'))).toEqual({
      choices: [{ message: { content: expect.stringMatching(/^<email:/) }, logprobs: null, token_ids: null }],
    })
    expect(redaction.text(body('nothing'), 'response')).toBe(body('nothing'))
    expect(redaction.text(`{"logprobs":true,"user":"${email}"}`, 'request')).toMatch(/^\{"logprobs":true,/)
  })

  it('no value that holds an address leaves with it, wherever it stands, and twice is once', () => {
    const redaction = new Redaction({ project: 'p', redact: ['key', 'email', 'card', 'phone'], key: 'k' })
    const holding = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<Json>(email, `to ${email}, now`, 4111111111111111, 'x', 1, null, true),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', email), tie('value'), { maxKeys: 3 }),
        tie('value').map((inner) => JSON.stringify(inner)),
      ),
    })).value
    fc.assert(
      fc.property(holding, (value) => {
        const once = redaction.value(value, 'tool.arguments')
        expect(JSON.stringify(once)).not.toMatch(/ada@example|4111111111111111/)
        expect(redaction.value(once, 'tool.arguments')).toEqual(once)
        expect(redaction.text(JSON.stringify(value), 'tool.arguments')).toBe(JSON.stringify(once))
      }),
      { numRuns: 300 },
    )
  })

  it('a replay is asked with the arguments that a recording has', async () => {
    await using t = await setUp({ redact: ['email'] })
    const tool = t.hg.tool({ name: 'find', parameters: {}, execute: async () => 'live' })
    const agent = t.hg.agent('a', async () => [await tool.execute({ email }), await t.hg.io('profile', () => 'live', { key: email })])
    await agent()
    await t.hg.flush()
    const recorded = Object.fromEntries(t.exporter.spans.map((span) => [span.name, span.attributes]))
    const asked: Json[] = []
    const spans: SpanRecord[] = []
    const seam = {
      tool: async ({ arguments: args }: { arguments: Json }) => void asked.push(args),
      io: async ({ key }: { key: Json | undefined }) => void asked.push(key ?? null),
    }
    await withSeam(
      {
        seam: { tool: async (call) => (await seam.tool(call)) ?? 'taped', io: async (read) => (await seam.io(read)) ?? 'taped' },
        state: { attributes: {}, record: (span) => void spans.push(span) },
      },
      async () => void (await agent()),
    )
    expect(asked.map((value) => JSON.stringify(value))).toEqual([
      recorded['execute_tool find']?.['gen_ai.tool.call.arguments'],
      recorded['io profile']?.['homeground.io.key'],
    ])
    expect(written(spans)).not.toContain(email)
  })

  it('with a hook that answers with a promise keeps the value in, and leaves no rejection', async () => {
    const exporter = new MemoryExporter()
    const hook = async () => {
      throw new Error('later')
    }
    const hg = homeground({ project: 'p', redact: hook as never, exporter })
    hg.agent('a', (_: string) => 'fine')('ada')
    await hg.shutdown()
    expect(exporter.spans[0]?.attributes['homeground.agent.input']).toBe('"[redaction failed]"')
  })

  it('is refused with a redactor that does not exist', () => {
    expect(() => homeground({ project: 'p', redact: ['e-mail' as never] })).toThrow('`redact` names "e-mail", which is none of key, email')
  })
})

describe('API keys', () => {
  const key = 'sk-test-0123456789abcdef0123'

  it('are recorded nowhere, without any redaction: headers, addresses, errors', async () => {
    await using t = await setUp({}, [
      { error: 401, message: `Incorrect API key provided: ${key}` },
      { status: 403, body: `<html>your key ${key.slice(3)} is bad</html>` },
    ])
    const messages = [{ role: 'user' as const, content: 'hi' }]
    await t.client.chat.completions.create({ model: 'm', messages }).catch(() => {})
    const bare = { method: 'POST', body: '{"model":"m","messages":[]}', headers: { authorization: `Bearer ${key.slice(3)}` } }
    await (await t.hg.fetch(`${t.server.url}/chat/completions?api-key=${key}`, bare)).text()
    const nowhere = t.hg.fetch(`http://127.0.0.1:1/v1/chat/completions?key=${key}`, bare)
    await nowhere.catch(() => {})
    await t.hg
      .agent('a', async () => Promise.reject(new Error(`GET https://x.example/?token=${key.slice(3)}&a=1 failed, Bearer ${key}`)))()
      .catch(() => {})
    await t.hg.flush()
    expect(t.exporter.spans).toHaveLength(4)
    expect(written(t.exporter.spans)).not.toContain(key.slice(3))
    expect(t.exporter.spans[0]?.status.message).toBe('Incorrect API key provided: <key>')
    expect(t.exporter.spans[3]?.status.message).toBe('GET https://x.example/?token=<key>&a=1 failed, Bearer <key>')
  })
})

describe('content', () => {
  it('is not recorded of one call, one tool or one read, where that is asked for', async () => {
    await using t = await setUp({}, ['secret', 'said'])
    const quiet = t.hg.tool({
      name: 'quiet',
      parameters: {},
      captureContent: false,
      execute: async (_: object) => t.hg.io('inner', () => 'secret'),
    })
    const ask = (content: string) => t.client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] })
    await t.hg.agent('a', async () => {
      await t.hg.captureContent(false, () => ask('secret'))
      await ask('heard')
      await quiet.execute({ a: 'secret' })
      await quiet.call({ id: 'c', type: 'tool_use', name: 'quiet', input: { a: 'secret' } })
      await t.hg.io('read', () => 'secret', { key: 'secret', captureContent: false })
    })()
    await t.hg.flush()
    expect(written(t.exporter.spans)).not.toContain('secret')
    expect(attribute(t.exporter, 'homeground.request.body').map(String)).toEqual([expect.stringContaining('heard')])
    expect(t.exporter.spans).toHaveLength(8)
  })
})
