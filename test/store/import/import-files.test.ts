import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Episode, formatEpisodeLine, type Json, type Message, readJsonLines } from '@homeground/sdk/trace'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { passRates } from '../../../replay/compare/pass-rates.ts'
import { importFiles, readTools } from '../../../store/import/index.ts'
import type { Importer } from '../../../store/import/types.ts'
import { episode, modelCall, text } from '../../sdk/trace/episode-fixtures.ts'
import { engineIsMissing, useEngine } from '../../support/engine.ts'
import { spanId, spanRow } from '../../support/span-rows.ts'
import { memoryStore } from './memory-store.ts'

const data = fileURLToPath(new URL('../../../examples/data/', import.meta.url))
const tau = path.join(data, 'tau-airline-gpt4o.jsonl.gz')
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'import-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

interface Line {
  task_id: number
  trial: number
  reward: number
  messages: { role: string; content: string | null; tool_calls?: { id: string; function: { name: string; arguments: string } }[] }[]
  expected_actions: { name: string; kwargs: Json }[]
  expected_outputs: string[]
  instruction: string
}

describe('importing the real episodes of tau-bench', () => {
  const lines: Line[] = []
  const store = memoryStore()
  let summary: Awaited<ReturnType<typeof importFiles>>
  let episodes: Map<string, Episode>

  beforeAll(async () => {
    for await (const { value } of readJsonLines(tau)) lines.push(value as Line)
    summary = await importFiles(store, [tau], 'tau-bench', {
      project: 'airline',
      tools: await readTools(path.join(data, 'tau-airline-tools.json')),
    })
    episodes = new Map(store.assembled().map((given) => [`${given.source.task} ${given.source.repeat}`, given]))
  })

  test('stores 200 episodes with 2,454 model calls and 1,164 tool calls', () => {
    expect(summary).toMatchObject({
      format: 'tau-bench',
      files: 1,
      projects: ['airline'],
      episodes: 200,
      modelCalls: 2454,
      toolCalls: 1164,
      feedback: 600,
    })
    expect(episodes.size).toBe(200)
    const steps = [...episodes.values()].flatMap((given) => given.steps)
    expect([steps.filter(({ kind }) => kind === 'model').length, steps.filter(({ kind }) => kind === 'tool').length]).toEqual([2454, 1164])
  })

  test('gives pass^1..4 of .420 .273 .220 .200 from the published rewards', () => {
    expect(passRates([...summary.rewards.values()]).map(({ passHat }) => passHat.toFixed(3))).toEqual(['0.420', '0.273', '0.220', '0.200'])
  })

  test('keeps every message as it was sent, byte for byte in the bodies', () => {
    for (const line of lines) {
      const given = episodes.get(`tau-airline-${line.task_id} ${line.trial}`)
      const answers = line.messages.flatMap((message, index) => (message.role === 'assistant' ? [index] : []))
      const rows = given?.steps.filter(({ kind }) => kind === 'model').map(({ id }) => store.rows.get(`airline ${given.trace} ${id}`)) ?? []
      expect(rows.length).toBe(answers.length)
      for (const [call, index] of answers.entries()) {
        expect(rows[call]?.requestBody).toContain(`"messages":${JSON.stringify(line.messages.slice(0, index))},"tools":[`)
        expect(rows[call]?.responseBody).toContain(`"message":${JSON.stringify(line.messages[index])},`)
      }
    }
  })

  test('reads back the same texts, calls with arguments, and results', () => {
    for (const line of lines) {
      const given = episodes.get(`tau-airline-${line.task_id} ${line.trial}`)
      const calls = given?.steps.filter((step) => step.kind === 'model') ?? []
      const answers = line.messages.flatMap((message, index) => (message.role === 'assistant' ? [index] : []))
      expect(calls.map(({ request }) => request.messages.map(shown))).toEqual(
        answers.map((index) => line.messages.slice(0, index).map(sent)),
      )
      expect(calls.map(({ response }) => response?.outputs.map(shown))).toEqual(
        answers.map((index) => [line.messages[index]].map((message) => message && sent(message))),
      )
      const tools = given?.steps.filter((step) => step.kind === 'tool') ?? []
      expect(tools.map((tool) => [tool.name, tool.arguments])).toEqual(
        line.messages
          .flatMap((message) => message.tool_calls ?? [])
          .map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
      )
      expect(tools.flatMap(({ result }) => (result === undefined ? [] : [result]))).toEqual(
        line.messages.filter(({ role }) => role === 'tool').map(({ content }) => content),
      )
    }
  })

  test('says session, trial, effects, reward, and what was expected', () => {
    const line = lines[0]
    expect(episodes.get('tau-airline-0 0')).toMatchObject({
      session: 'tau-airline-0',
      source: { kind: 'import', task: 'tau-airline-0', repeat: 0 },
      agent: { name: 'tau-airline' },
      input: { instruction: line?.instruction },
      feedback: [
        {
          name: 'expected_actions',
          value: JSON.stringify(line?.expected_actions.map(({ name, kwargs }) => ({ name, arguments: kwargs }))),
          source: 'tau-bench',
        },
        { name: 'expected_outputs', value: JSON.stringify(line?.expected_outputs) },
        { name: 'reward', value: line?.reward },
      ],
    })
    const effects = new Map(
      [...store.rows.values()].filter(({ kind }) => kind === 'tool').map(({ toolName, effect }) => [toolName, effect]),
    )
    expect(Object.fromEntries(effects)).toMatchObject({ book_reservation: 'write', get_user_details: 'read', think: 'none' })
  })

  test('adds nothing when it is done a second time', async () => {
    const before = { rows: new Map(store.rows), feedback: new Map(store.feedback) }
    await importFiles(store, [tau], 'tau-bench', { project: 'airline', tools: await readTools(path.join(data, 'tau-airline-tools.json')) })
    expect({ rows: store.rows, feedback: store.feedback }).toEqual(before)
  })

  test('reads what the benchmark itself writes: one array, with traj and info', async () => {
    const line = lines[7]
    if (line === undefined) throw new Error('the data has more than seven lines')
    const own = {
      task_id: line.task_id,
      trial: line.trial,
      reward: line.reward,
      traj: line.messages,
      info: { task: { user_id: 'u', actions: line.expected_actions, outputs: line.expected_outputs, instruction: line.instruction } },
    }
    const file = path.join(folder, 'tau-airline.json')
    fs.writeFileSync(file, JSON.stringify([own]))
    const other = memoryStore()
    await importFiles(other, [file], 'tau-bench', { project: 'airline', tools: await readTools(path.join(data, 'tau-airline-tools.json')) })
    expect(other.assembled()).toEqual([episodes.get(`tau-airline-${line.task_id} ${line.trial}`)])
  })
})

describe.skipIf(engineIsMissing)('a real store', () => {
  const engine = useEngine()

  test('gives the real episodes back as they went in, bodies byte for byte', async () => {
    const store = await engine.openStore()
    const memory = memoryStore()
    await importFiles(memory, [tau], 'tau-bench', { project: 'airline' })
    await importFiles(store, [tau], 'tau-bench', { project: 'airline' })
    await importFiles(store, [tau], 'tau-bench', { project: 'airline' })
    expect(await store.counts('airline')).toEqual([{ project: 'airline', episodes: 200, modelCalls: 2454, toolCalls: 1164 }])
    const read: Episode[] = []
    for await (const given of store.episodes({ project: 'airline' })) read.push(given)
    expect(read).toEqual(memory.assembled())
    const traces = read.slice(0, 20).map(({ trace }) => trace)
    const bodies = (await store.spans('airline', traces)).map(({ requestBody, responseBody, result }) => [
      requestBody,
      responseBody,
      result,
    ])
    const kept = new Set(
      [...memory.rows.values()].map(({ requestBody, responseBody, result }) => JSON.stringify([requestBody, responseBody, result])),
    )
    expect(bodies.length).toBeGreaterThan(200)
    for (const body of bodies) expect(kept).toContain(JSON.stringify(body))
  }, 120_000)
})

describe('importFiles', () => {
  test('takes episode files back as they were, into their own project or another', async () => {
    const given = episode([modelCall(spanId(2), [text('user', 'q')], [text('assistant', 'a')], { parent: spanId(1) })], {
      agent: { name: 'desk' },
      session: 's',
      feedback: [{ name: 'n', value: 1, source: 'u', at: '2026-01-31T12:00:00.000Z' }],
    })
    const file = path.join(folder, 'episodes.jsonl')
    fs.writeFileSync(file, `${formatEpisodeLine(given)}\n`)
    const store = memoryStore()
    await importFiles(store, [file], 'episode')
    await importFiles(store, [file], 'episode', { project: 'other' })
    expect(store.assembled()).toEqual([given, { ...given, project: 'other' }])
  })

  test('takes chat conversations, the same one twice as two episodes', async () => {
    const messages = [
      { role: 'user', content: 'Book 3.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'book', arguments: '{"lane":3}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'ok' },
      { role: 'assistant', content: 'Booked.' },
    ]
    const tools = [{ type: 'function', function: { name: 'book', parameters: {} } }]
    const file = path.join(folder, 'chats.jsonl')
    const bare = JSON.stringify({ messages, tools: null })
    fs.writeFileSync(
      file,
      `${JSON.stringify({ messages, tools, id: 7, session: 's', user: 'u', metadata: { desk: 2 }, reward: 0.5, model: 'm' })}\n${bare}\n${bare}\n`,
    )
    const store = memoryStore()
    const summary = await importFiles(store, [file], 'openai-messages')
    expect(summary).toMatchObject({ episodes: 3, modelCalls: 6, toolCalls: 3, feedback: 1 })
    const all = store.assembled()
    expect(all.length).toBe(3)
    const full = all.find(({ session }) => session === 's')
    expect(full).toMatchObject({
      project: 'default',
      user: 'u',
      tags: { desk: '2' },
      output: 'Booked.',
      feedback: [{ name: 'reward', value: 0.5 }],
      source: { kind: 'import', ref: '7' },
    })
    expect(full?.steps).toMatchObject([
      { kind: 'model', model: 'm', request: { tools: [{ type: 'function', name: 'book' }] } },
      { kind: 'tool', name: 'book', callId: 'c', arguments: { lane: 3 }, result: 'ok', effect: 'unknown' },
      { kind: 'model', response: { outputs: [text('assistant', 'Booked.')] } },
    ])
  })

  test.each([
    ['tau-bench', '{"task_id":0,"trial":0,"reward":1,"messages":[]}', '{"task_id":"x","reward":1,"messages":[]}', 'task_id'],
    [
      'openai-messages',
      '{"messages":[{"role":"assistant","content":"a"}]}',
      '{"messages":[{"role":"user","content":"a"}]}',
      'messages: expected at least one assistant message',
    ],
    [
      'episode',
      formatEpisodeLine(episode([modelCall('1'.padStart(16, '0'), [text('user', 'q')], [text('assistant', 'a')])])),
      '{"format":1}',
      'id: ',
    ],
    [
      'episode',
      formatEpisodeLine(episode([modelCall('1'.padStart(16, '0'), [text('user', 'q')], [text('assistant', 'a')])])),
      '{"format":1',
      'not JSON',
    ],
  ])('stores nothing of a %s file with a broken line, and names the place', async (format, good, bad, fault) => {
    const file = path.join(folder, `broken-${format}.jsonl`)
    fs.writeFileSync(file, `${good}\n${bad}\n`)
    const store = memoryStore()
    await expect(importFiles(store, [file], format)).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringContaining(`${file}:2: `),
    })
    await expect(importFiles(store, [file], format)).rejects.toThrow(fault)
    expect(store.inserts).toBe(0)
  })

  test.each([
    ['a content that is a number', { role: 'user', content: 5 }, /:1: .*messages\.0\.content: expected text, a list of parts/],
    ['a part without a type', { role: 'user', content: [{ x: 1 }] }, /:1: .*messages\.0\.content: expected text, a list of parts/],
    ['a call without a function', { role: 'assistant', tool_calls: [{ id: 'a', function: null }] }, /:1: .*messages\.0\.tool_calls\.0\./],
    [
      'an id that is a number',
      { role: 'assistant', tool_calls: [{ id: 1, function: { name: 'f' } }] },
      /:1: .*messages\.0\.tool_calls\.0\./,
    ],
  ])('refuses %s with its place', async (_, message, place) => {
    const file = path.join(folder, 'odd.jsonl')
    fs.writeFileSync(file, `${JSON.stringify({ messages: [message, { role: 'assistant', content: 'y' }] })}\n`)
    await expect(importFiles(memoryStore(), [file], 'openai-messages')).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringMatching(place),
    })
  })

  test('refuses a file without an episode, and an episode that holds nothing to store', async () => {
    const file = path.join(folder, 'empty.jsonl')
    fs.writeFileSync(file, '\n')
    await expect(importFiles(memoryStore(), [file], 'episode')).rejects.toMatchObject({ message: `${file} holds no episode` })
    const hollow = { format: 1, id: 'a'.repeat(32), trace: 'a'.repeat(32), project: 'p', tags: {}, startedAt: '2026-01-01T00:00:00.000Z' }
    fs.writeFileSync(file, `${JSON.stringify({ ...hollow, durationMs: 0, steps: [], feedback: [], source: { kind: 'trace' } })}\n`)
    await expect(importFiles(memoryStore(), [file], 'episode')).rejects.toMatchObject({
      message: expect.stringMatching(/empty\.jsonl:1: an episode without a step and without an agent/),
    })
  })

  test('says which formats there are, and which file is not there', async () => {
    await expect(importFiles(memoryStore(), [tau], 'csv')).rejects.toMatchObject({
      code: 'unknown-format',
      hint: 'use one of episode, openai-messages, tau-bench',
    })
    await expect(importFiles(memoryStore(), [path.join(folder, 'gone.jsonl')], 'episode')).rejects.toMatchObject({ code: 'not-found' })
  })

  test('reads tools flat or wrapped, and refuses what is no list of them', async () => {
    const file = path.join(folder, 'tools.json')
    fs.writeFileSync(
      file,
      JSON.stringify([
        { name: 'a', description: 'A', effect: 'read' },
        { type: 'function', function: { name: 'b' }, effect: 'write' },
      ]),
    )
    expect(await readTools(file)).toEqual([
      { name: 'a', definition: { type: 'function', function: { name: 'a', description: 'A' } }, effect: 'read' },
      { name: 'b', definition: { type: 'function', function: { name: 'b' } }, effect: 'write' },
    ])
    fs.writeFileSync(file, '[{"description":"no name"}]')
    await expect(readTools(file)).rejects.toMatchObject({ code: 'invalid-input', message: expect.stringContaining(file) })
    await expect(readTools(path.join(folder, 'gone.json'))).rejects.toMatchObject({ code: 'not-found' })
  })
})

/** What a message of the file says, in terms of the canonical form. */
function sent(message: Line['messages'][number]) {
  const calls = message.tool_calls?.map((call) => [call.id, call.function.name, JSON.parse(call.function.arguments)]) ?? []
  return [message.role, message.content ?? '', ...calls]
}

function shown(message: Message) {
  const texts = message.parts.map((part) => (part.type === 'text' ? part.content : part.type === 'tool_call_response' ? part.response : ''))
  const calls = message.parts.filter((part) => part.type === 'tool_call').map((part) => [part.id, part.name, part.arguments])
  return [message.role, texts.join(''), ...calls]
}

test('a trace of more spans than a call may have arguments is stored', async () => {
  const rows = Array.from({ length: 200_000 }, (_, n) => spanRow({ spanId: spanId(n + 1) }))
  const many: Importer = {
    format: 'many',
    summary: '',
    async *read() {
      yield { rows, feedback: [] }
    },
  }
  const store = memoryStore()
  await importFiles(store, [tau], 'many', { importers: [many] })
  expect(store.rows.size).toBe(rows.length)
})
