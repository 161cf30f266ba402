import { beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../store/index.ts'
import { homegroundCommand } from '../support/command.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { spanId, spanRow, traceId } from '../support/span-rows.ts'

describe.skipIf(engineIsMissing)('homeground traces', { timeout: 120_000 }, () => {
  const engine = useEngine()
  const run = (...args: string[]) => homegroundCommand(['traces', ...args, '--folder', engine.folder])
  beforeAll(async () => {
    if (engineIsMissing) return
    const store = await openStore({ folder: engine.folder, environment: {} })
    await store.insertSpans([
      spanRow({
        kind: 'agent',
        traceId: traceId(1),
        spanId: spanId(1),
        agentName: 'desk',
        session: 's1',
        input: '"Where is it?\\u001b[31m"',
        tags: { plan: 'pro' },
      }),
      spanRow({
        traceId: traceId(1),
        spanId: spanId(2),
        parentSpanId: spanId(1),
        api: 'openai.chat',
        provider: 'openai',
        model: 'gpt-4o',
        startTimeUnixNano: 1_764_600_000_100_000_000n,
        requestBody: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Where is it?\u001b[31m' }] }),
        responseBody: JSON.stringify({
          choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'On its way.' } }],
        }),
      }),
      spanRow({
        kind: 'tool',
        traceId: traceId(1),
        spanId: spanId(3),
        parentSpanId: spanId(1),
        startTimeUnixNano: 1_764_600_000_050_000_000n,
        toolName: 'find',
        arguments: '{"id":7}',
        result: '"truck"',
      }),
    ])
    await store.insertFeedback([
      {
        project: 'shop',
        traceId: traceId(1),
        stepId: '',
        name: 'thumb',
        value: true,
        comment: 'quick',
        source: 'user',
        at: '2025-12-01T15:00:00.000Z',
      },
    ])
    await store.close()
  })

  test('list shows the projects, then one line an episode, with control characters made visible', async () => {
    expect((await run('list')).stdout).toMatch(/shop +1 +1 +1/)
    const { stdout, code } = await run('list', 'shop')
    expect(code).toBe(0)
    expect(stdout).toContain(traceId(1))
    expect(stdout).toContain('Where is it?␛[31m')
    expect(stdout).not.toContain('\u001b')
  })

  test('list takes conditions and refuses what is none', async () => {
    expect((await run('list', 'shop', '--tag', 'plan=pro', '--agent', 'desk')).stdout).toContain(traceId(1))
    expect((await run('list', 'shop', '--tag', 'plan=free')).stdout).toBe('no episode fits; loosen the options\n')
    const misspelt = await run('list', 'shp')
    expect(misspelt).toMatchObject({ code: 2, stdout: '' })
    expect(misspelt.stderr).toMatch(/there is no project shp\n {2}hint: the projects are shop\n/)
    const bad = await run('list', 'shop', '--from', 'yesterday')
    expect(bad.code).toBe(2)
    expect(bad.stderr).toContain('yesterday')
  })

  test('show prints an episode that a person can read, and --json the episode itself', async () => {
    const { stdout } = await run('show', traceId(1))
    expect(stdout).toContain('tool find')
    expect(stdout).toContain('user: Where is it?␛[31m')
    expect(stdout).toContain('assistant: On its way.')
    expect(stdout).toContain('feedback: thumb = true (user) quick')
    const episode = JSON.parse((await run('show', traceId(1), '--json')).stdout) as { steps: { kind: string }[] }
    expect(episode.steps.map(({ kind }) => kind)).toEqual(['tool', 'model'])
  })

  test('show takes the first characters of a trace id, and names the traces where several begin so', async () => {
    const store = await openStore({ folder: engine.folder, environment: {} })
    await store.insertSpans([
      spanRow({ project: 'prefix', traceId: `abc1${traceId(2).slice(4)}` }),
      spanRow({ project: 'prefix', traceId: `abc2${traceId(2).slice(4)}` }),
    ])
    await store.close()
    expect((await run('show', 'ABC1', '--json')).stdout).toContain(`abc1${traceId(2).slice(4)}`)
    const several = await run('show', 'abc')
    expect(several).toMatchObject({ code: 2, stdout: '' })
    expect(several.stderr).toContain(`several traces begin with abc`)
    expect(several.stderr).toContain(`abc2${traceId(2).slice(4)}`)
    expect((await run('show', 'abc1', '--project', 'shop')).stderr).toContain('not-found')
  })

  test('show says not-found with exit 2 for an id that is not there', async () => {
    const { code, stderr } = await run('show', traceId(99))
    expect(code).toBe(2)
    expect(stderr).toContain('not-found')
  })
})
