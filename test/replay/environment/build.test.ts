import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Episode } from '@homeground/sdk/trace'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type BuildOptions, buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import { sealEnvironment } from '../../../replay/environment/seal.ts'
import type { Environment, Task, TaskTape } from '../../../replay/environment/types.ts'
import { filesUnder } from '../../support/files-under.ts'
import { airlineEpisodes, calls, episodeOf, result, text, toolSpan } from '../support/episodes.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-env-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

const at = (name: string) => path.join(folder, name)
const build = (episodes: Episode[], more: Partial<BuildOptions> = {}) =>
  buildEnvironment(episodes, { name: 'desk', folder: at('env'), homeground: '0.1.0', ...more })

async function contents(environment: Environment): Promise<{ tasks: Task[]; tapes: TaskTape[] }> {
  const tasks: Task[] = []
  for await (const task of environment.tasks()) tasks.push(task)
  return { tasks, tapes: await Promise.all(tasks.map((task) => environment.tape(task.id))) }
}

const refund = episodeOf(
  'refund',
  [
    text('system', 'You are the desk.'),
    text('user', 'Where is order 7?'),
    calls({ id: 'c1', name: 'get_order', arguments: { id: 7 } }),
    result('c1', '{"status":"lost"}'),
    text('assistant', 'It is lost.'),
    text('user', 'Then refund it.'),
    calls({ id: 'c1', name: 'refund', arguments: { id: 7 } }),
    result('c1', 'done'),
    text('assistant', 'Refunded.'),
  ],
  {
    tools: [
      toolSpan('get_order', { id: 7 }, 7, { callId: 'c1', result: { status: 'lost' } }),
      toolSpan('refund', { id: 7 }, 27, { effect: 'write', result: 'done' }),
    ],
    input: { question: 'Where is order 7?' },
    output: 'Refunded.',
  },
)

describe('buildEnvironment', () => {
  test('makes a loop task of the prompt, the recorded user turns and what the model was shown', async () => {
    await build([refund], { harness: { kind: 'loop', maxSteps: 50 } })
    const environment = await openEnvironment(at('env'))
    const { tasks, tapes } = await contents(environment)
    await environment.close()
    expect(tasks).toEqual([
      {
        id: refund.id,
        hash: expect.any(String),
        split: expect.any(String),
        session: 'session-refund',
        messages: [text('system', 'You are the desk.'), text('user', 'Where is order 7?'), text('user', 'Then refund it.')],
        turns: [2, 1],
        tags: {},
        source: { trace: refund.trace, episode: refund.id, startedAt: refund.startedAt },
      },
    ])
    expect(tapes[0]?.entries.map(({ hash, ...entry }) => entry)).toEqual([
      {
        seq: 1,
        kind: 'tool',
        name: 'get_order',
        arguments: { id: 7 },
        result: '{"status":"lost"}',
        durationMs: 2,
        effect: 'read',
        callId: 'c1',
        turn: 0,
      },
      { seq: 2, kind: 'tool', name: 'refund', arguments: { id: 7 }, result: 'done', durationMs: 2, effect: 'write', callId: 'c1', turn: 1 },
    ])
    expect(environment.file.tools).toEqual({
      get_order: { effect: 'read', mode: 'tape', onMiss: 'error' },
      refund: { effect: 'write', mode: 'tape', onMiss: 'error' },
    })
  })

  test('makes a module task of the agent input, with what the functions returned', async () => {
    await build([refund], { harness: { kind: 'module', module: './agent.js#run', timeoutMs: 1_000 } })
    const environment = await openEnvironment(at('env'))
    const { tasks, tapes } = await contents(environment)
    await environment.close()
    expect(tasks.map((task) => task.input)).toEqual([{ question: 'Where is order 7?' }])
    expect(tapes[0]?.entries.map((entry) => entry.result)).toEqual([{ status: 'lost' }, 'done'])
  })

  test('makes a task of each user turn by default where an episode has several, the history as recorded', async () => {
    await build([refund])
    const environment = await openEnvironment(at('env'))
    const { tasks, tapes } = await contents(environment)
    await environment.close()
    expect(environment.file.harness).toEqual({ kind: 'turn' })
    expect(tasks.map((task) => [task.id, task.messages?.length, task.source.step])).toEqual([
      [`${refund.id}-1`, 2, refund.steps[0]?.id],
      [`${refund.id}-2`, 6, refund.steps.filter((step) => step.kind === 'model')[2]?.id],
    ])
    expect(tapes.map((tape) => tape.entries.map((entry) => [entry.seq, entry.name]))).toEqual([[[1, 'get_order']], [[1, 'refund']]])
    expect(await openEnvironment(at('env')).then((again) => again.recording(`${refund.id}-2`).finally(again.close))).toEqual(refund)
  })

  test('makes one task of a session, its inputs in turn', async () => {
    const second = episodeOf('second', [text('user', 'and now?'), text('assistant', 'ok')], {
      session: 'session-refund',
      input: { question: 'and now?' },
      startedAt: '2026-01-05T10:00:01.000Z',
    })
    await build([second, refund], { unit: 'session', harness: { kind: 'module', module: './agent.js#run', timeoutMs: 1_000 } })
    const environment = await openEnvironment(at('env'))
    const { tasks, tapes } = await contents(environment)
    expect(tasks.map((task) => task.input)).toEqual([[{ question: 'Where is order 7?' }, { question: 'and now?' }]])
    expect(tapes[0]?.entries.map((entry) => [entry.seq, entry.turn])).toEqual([
      [1, 0],
      [2, 0],
    ])
    const recording = await environment.recording(tasks[0]?.id ?? '')
    await environment.close()
    expect(recording?.steps.filter((step) => step.kind === 'agent').length).toBe(2)
  })

  test('takes the reference from feedback with a meaning of its own and drafts the rubric from it', async () => {
    const feedback = (name: string, value: string | number) => ({ name, value, source: 'human', at: refund.startedAt })
    await build(
      [
        {
          ...refund,
          feedback: [
            feedback('expected_actions', '[{"name":"refund","arguments":{"id":7}}]'),
            feedback('expected_outputs', '["refunded"]'),
            feedback('stars', 4),
          ],
        },
      ],
      { harness: { kind: 'loop', maxSteps: 50 } },
    )
    const environment = await openEnvironment(at('env'))
    const { tasks } = await contents(environment)
    await environment.close()
    expect(tasks[0]?.reference).toEqual({
      actions: [{ name: 'refund', arguments: { id: 7 } }],
      outputs: ['refunded'],
      feedback: { stars: 4 },
    })
    expect(environment.rubric.criteria).toEqual([
      { name: 'actions', weight: 1, type: 'actions', outputs: true },
      { name: 'stars', weight: 0, type: 'feedback', feedback: 'stars', max: 4 },
      { name: 'uses get_order', weight: 0, type: 'tool_called', tool: 'get_order', min: 1 },
      { name: 'uses refund', weight: 0, type: 'tool_called', tool: 'refund', min: 1 },
      // Four model calls and two of tools, which is how the criterion counts.
      { name: 'steps', weight: 0, type: 'steps', max: 9 },
    ])
  })

  test('says so where only feedback says what is right: a rollout has none, and so no score', async () => {
    const feedback = [{ name: 'happy', value: true, source: 'human', at: refund.startedAt }]
    const built = await build([{ ...refund, feedback }], { harness: { kind: 'loop', maxSteps: 50 } })
    expect(built.warnings.filter((warning) => warning.includes('weighs feedback (happy)'))).toHaveLength(1)
    const { warnings } = await build([{ ...refund, feedback }], {
      harness: { kind: 'loop', maxSteps: 50 },
      folder: at('recorded'),
      reference: 'recorded',
    })
    expect(warnings.filter((warning) => warning.includes('feedback'))).toEqual([])
  })

  test('takes what the recording did as the reference only where it is asked to', async () => {
    await build([refund], { harness: { kind: 'loop', maxSteps: 50 }, reference: 'recorded' })
    const environment = await openEnvironment(at('env'))
    const { tasks } = await contents(environment)
    await environment.close()
    expect(tasks[0]?.reference).toEqual({ actions: [{ name: 'refund', arguments: { id: 7 } }], output: 'Refunded.' })
  })

  test('builds the real episodes twice to the same bytes, no session in two splits', async () => {
    const episodes = airlineEpisodes(60)
    await build(episodes, { folder: at('a') })
    await build(episodes, { folder: at('b') })
    const names = ['env.json', 'tasks.jsonl', 'tapes.jsonl', 'rubric.json', 'recordings.jsonl.gz']
    for (const name of names) expect(fs.readFileSync(at(`a/${name}`)).equals(fs.readFileSync(at(`b/${name}`))), name).toBe(true)
    const environment = await openEnvironment(at('a'))
    const splits = new Map<string, Set<string>>()
    for await (const task of environment.tasks()) splits.set(task.session, (splits.get(task.session) ?? new Set()).add(task.split))
    await environment.close()
    expect(splits.size).toBe(50)
    expect([...splits.values()].every((set) => set.size === 1)).toBe(true)
  })

  test('moves no task when more data comes, and warns of a small test split', async () => {
    const episodes = airlineEpisodes(80)
    const small = await build(episodes.slice(0, 40), { folder: at('a'), harness: { kind: 'loop', maxSteps: 50 } })
    await build(episodes, { folder: at('b'), harness: { kind: 'loop', maxSteps: 50 } })
    expect(small.warnings).toContainEqual(expect.stringMatching(/the test split has \d+ sessions; under 12/))
    const [a, b] = await Promise.all([openEnvironment(at('a')), openEnvironment(at('b'))])
    for await (const task of a.tasks()) expect(await b.task(task.id)).toEqual(task)
    await Promise.all([a.close(), b.close()])
  })

  test('keeps a rubric that a person has edited, and what else lies in the folder', async () => {
    await build([refund])
    const edited = { criteria: [{ name: 'mine', weight: 1, type: 'contains', values: ['x'], caseSensitive: false }] }
    fs.writeFileSync(at('env/rubric.json'), JSON.stringify(edited))
    fs.writeFileSync(at('env/mock.mjs'), 'export const f = 1')
    const built = await build([refund])
    expect(JSON.parse(fs.readFileSync(at('env/rubric.json'), 'utf8'))).toEqual(edited)
    expect(fs.existsSync(at('env/mock.mjs'))).toBe(true)
    expect(built.warnings).toContainEqual(expect.stringContaining('rubric.json of the earlier build is kept'))
  })

  test('warns where nothing in the data says what is right, and where a kept rubric weighs what is no longer there', async () => {
    const said = /nothing in this data says what is right/
    const silent = airlineEpisodes(4).map((episode) => ({ ...episode, feedback: [] }))
    const harness = { kind: 'loop', maxSteps: 50 } as const
    expect((await build(silent, { folder: at('silent'), harness })).warnings).toContainEqual(expect.stringMatching(said))
    expect((await build(airlineEpisodes(4), { folder: at('known'), harness })).warnings).not.toContainEqual(expect.stringMatching(said))
    const referenced = await build(silent, { folder: at('recorded'), harness, reference: 'recorded' })
    expect(referenced.warnings).not.toContainEqual(expect.stringMatching(said))
    const rebuilt = await build(silent, { folder: at('recorded'), harness })
    expect(rebuilt.warnings).toContainEqual(expect.stringMatching(/the rubric weighs `actions`, and no task has reference actions/))
  })

  test('warns of what a replay of the product would do unasked: play several agents, ask one model in the place of several', async () => {
    const harness = { kind: 'module', module: './agent.js#run', timeoutMs: 1_000 } as const
    const [first, ...others] = refund.steps
    const asks = (model: string, parent?: string): Episode['steps'] =>
      first?.kind === 'model' ? [{ ...first, model, ...(parent === undefined ? {} : { parent }) }, ...others] : []
    const ask = async (episodes: Episode[], kind: BuildOptions['harness'] = harness) =>
      (await build(episodes, { harness: kind })).warnings.filter((warning) => /several (agents|models)/.test(warning))
    const of = (name: string, agent: string, more: Partial<Episode> = {}): Episode => {
      const [id, trace] = [name.repeat(32), name.repeat(32)]
      return { ...refund, ...more, id, trace, agent: { name: agent } }
    }
    expect(await ask([of('a', 'desk'), of('b', 'desk')])).toEqual([])
    expect(await ask([of('a', 'desk'), of('b', 'report')])).toEqual([expect.stringMatching(/several agents \(desk, report\).*--agent/)])
    expect(await ask([of('a', 'desk', { steps: asks('gpt-5') })])).toEqual([expect.stringMatching(/several models \(gpt-4o, gpt-5\)/)])
    expect(await ask([of('a', 'desk', { steps: asks('gpt-5') }), of('b', 'report')], { kind: 'loop', maxSteps: 5 })).toEqual([])
    // One model at a time is a model that was changed, and what a tool asks is on the tape.
    const changed = refund.steps.map((step) => (step.kind === 'model' ? { ...step, model: 'gpt-5' } : step))
    expect(await ask([of('a', 'desk'), of('b', 'desk', { steps: changed })])).toEqual([])
    const tool = toolSpan('colleague', {}, -1)
    expect(await ask([of('a', 'desk', { steps: [tool, ...asks('gpt-5', tool.id)] })])).toEqual([])
  })

  test('leaves nothing behind where a build fails, and refuses a folder that is something else', async () => {
    await expect(build([])).rejects.toMatchObject({ code: 'invalid-input', message: 'no episode was found to build from' })
    await expect(build([episodeOf('empty', [])])).rejects.toMatchObject({ code: 'invalid-input' })
    await expect(build([refund], { unit: 'turn', harness: { kind: 'loop', maxSteps: 5 } })).rejects.toMatchObject({
      code: 'invalid-argument',
    })
    expect(fs.readdirSync(folder)).toEqual([])
    fs.mkdirSync(at('photos'))
    fs.writeFileSync(at('photos/a.jpg'), '')
    await expect(build([refund], { folder: at('photos') })).rejects.toMatchObject({ code: 'invalid-argument' })
    expect(fs.readdirSync(folder)).toEqual(['photos'])
  })
})

describe('openEnvironment', () => {
  const broken: [string, string, (text: string) => string, { code: string; message: RegExp }][] = [
    [
      'a task line that is not JSON',
      'tasks.jsonl',
      (lines) => lines.replace('\n', ' x\n'),
      { code: 'environment-invalid', message: /tasks\.jsonl:1: not JSON/ },
    ],
    [
      'a changed task',
      'tasks.jsonl',
      (lines) => lines.replace('Where is', 'Where was'),
      { code: 'environment-invalid', message: /tasks\.jsonl:\d: task .* has changed/ },
    ],
    [
      'a changed tape',
      'tapes.jsonl',
      (lines) => lines.replace('{"id":7}', '{"id":8}'),
      { code: 'environment-invalid', message: /tapes\.jsonl:1: entry 1 \(get_order\): hash/ },
    ],
    [
      'a changed result',
      'tapes.jsonl',
      (lines) => lines.replace('lost', 'found'),
      { code: 'environment-invalid', message: /env\.json: hash: tasks, tapes, rubric, .* have changed/ },
    ],
    [
      'a missing tape',
      'tapes.jsonl',
      (lines) => lines.split('\n').slice(1).join('\n'),
      { code: 'environment-invalid', message: /env\.json: hash/ },
    ],
    [
      'an unknown grader',
      'rubric.json',
      (json) => json.replace('"steps",\n      "max"', '"vibes",\n      "max"'),
      { code: 'unknown-grader', message: /rubric\.json: criterion ".*" \(criteria\[2\]\) has the type "vibes", which does not exist/ },
    ],
    [
      'a field that nobody knows',
      'env.json',
      (json) => json.replace('"format": 1', '"format": 1, "colour": 2'),
      { code: 'environment-invalid', message: /env\.json: not an environment.*colour/ },
    ],
    ['broken settings', 'env.json', (json) => json.slice(0, 50), { code: 'environment-invalid', message: /env\.json: not JSON/ }],
  ]
  for (const [what, file, change, error] of broken) {
    test(`names the place of ${what}`, async () => {
      await build([refund])
      const before = fs.readFileSync(at(`env/${file}`), 'utf8')
      const after = change(before)
      expect(after).not.toBe(before)
      fs.writeFileSync(at(`env/${file}`), after)
      await expect(openEnvironment(at('env'))).rejects.toMatchObject({ code: error.code, message: expect.stringMatching(error.message) })
    })
  }

  test('names a missing folder and a missing file', async () => {
    await expect(openEnvironment(at('nowhere'))).rejects.toMatchObject({ code: 'not-found' })
    await build([refund])
    fs.rmSync(at('env/tapes.jsonl'))
    await expect(openEnvironment(at('env'))).rejects.toMatchObject({
      code: 'environment-invalid',
      message: expect.stringContaining('tapes.jsonl: the file is missing'),
    })
  })

  test('opens again after an edit that was sealed, under another hash', async () => {
    const { file } = await build([refund])
    const tasks = fs.readFileSync(at('env/tasks.jsonl'), 'utf8')
    fs.writeFileSync(at('env/tasks.jsonl'), tasks.replaceAll('order 7', 'order 9'))
    const sealed = await sealEnvironment(at('env'))
    expect(sealed.hash).not.toBe(file.hash)
    const environment = await openEnvironment(at('env'))
    expect(JSON.stringify((await contents(environment)).tasks)).toContain('order 9')
    await environment.close()
  })

  test('an edit that broke the format is refused, and leaves nothing beside it', async () => {
    await build([refund])
    fs.appendFileSync(at('env/tapes.jsonl'), '{"task":7}\n')
    const before = filesUnder(at('env'))
    await expect(sealEnvironment(at('env'))).rejects.toMatchObject({ code: 'environment-invalid' })
    expect(filesUnder(at('env'))).toEqual(before)
  })
})
