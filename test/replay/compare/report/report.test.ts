import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Message, Step } from '@homeground/sdk/trace'
import { describe, expect, onTestFinished, test } from 'vitest'
import { compareRun, runSource, writeReport } from '../../../../replay/compare/index.ts'
import { caseView } from '../../../../replay/compare/report/case-view.ts'
import { chooseCases } from '../../../../replay/compare/report/cases.ts'
import { deltaChart } from '../../../../replay/compare/report/delta-chart.ts'
import { pairSection } from '../../../../replay/compare/report/pair-section.ts'
import { html } from '../../../../replay/rubric/markup.ts'
import { partingTurn, transcript } from '../../../../replay/rubric/transcript.ts'
import { modelStep, sampleEpisode, toolStep } from '../../rubric/sample.ts'
import { sampleRun } from '../sample-run.ts'

const run = sampleRun({
  tasks: 60,
  repeats: 2,
  // a passes even tasks, b odd ones; b's second repeat of task 1 fails.
  rollout: ({ task, arm, repeat }) => ({ score: (task % 2 === 0) === (arm === 'a') && !(task === 1 && repeat === 1) ? 1 : 0 }),
  episode: (rollout) => sampleEpisode({ id: rollout.episode }),
})

describe('which episodes are shown', () => {
  test('the largest regressions and wins, with the two tries that differ most', async () => {
    const cases = await chooseCases(await compareRun(run), runSource(run), run.episodes())
    expect(cases.filter(({ kind }) => kind === 'regression')).toHaveLength(12)
    expect(cases.filter(({ kind }) => kind === 'win')).toHaveLength(12)
    const [first] = cases
    expect(first).toMatchObject({ anchor: 'case-1-1', task: 'task-0', delta: -1, kind: 'regression' })
    expect(first?.from?.outcome).toMatchObject({ arm: 'a', score: 1 })
    expect(first?.to?.outcome).toMatchObject({ arm: 'b', score: 0 })
    expect(first?.to?.episode?.id).toBe('0-b-0')
  })

  test('report.json is the comparison, and both files are there or neither', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'report-'))
    onTestFinished(() => fs.rmSync(folder, { recursive: true }))
    const comparison = await compareRun(run)
    const files = await writeReport({ ...run, folder }, comparison)
    expect(JSON.parse(fs.readFileSync(files.json, 'utf8'))).toEqual(JSON.parse(JSON.stringify(comparison)))
    expect(fs.readdirSync(folder).toSorted()).toEqual(['report.html', 'report.json'])
    expect(fs.readFileSync(files.html, 'utf8')).not.toMatch(/<!--(policy|title|body)-->|https?:\/\//)
  })
})

test('a report that cannot be written leaves nothing of itself, and what stood there before', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'report-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  fs.mkdirSync(path.join(folder, 'report.html', 'in-the-way'), { recursive: true })
  fs.writeFileSync(path.join(folder, 'report.json'), 'of before')
  await expect(writeReport({ ...run, folder }, await compareRun(run))).rejects.toMatchObject({ syscall: 'rename' })
  expect(fs.readdirSync(folder).toSorted()).toEqual(['report.html', 'report.json'])
  expect(fs.readFileSync(path.join(folder, 'report.json'), 'utf8')).toBe('of before')
})

describe('a criterion that scored no task in both arms', () => {
  test('is named under the chart, has no place on its scale, and is not corrected for', async () => {
    const right = { value: 1, weight: 1, reason: 'it is so' }
    const unheard = { value: null, weight: 0, reason: 'nobody said it' }
    const comparison = await compareRun(
      sampleRun({
        rollout: ({ task, arm }) => {
          const score = arm === 'b' || task % 3 === 0 ? 1 : 0
          return { score, scores: { right: { ...right, value: score }, helpful: unheard } }
        },
      }),
    )
    const [pair] = comparison.pairs
    if (pair === undefined) throw new Error('two arms make a pair')
    const tested = pair.criteria.find(({ name }) => name === 'right')
    expect(tested?.pHolm).toBe(tested?.p)
    const page = pairSection(pair, 1, []).text
    expect(page).toContain('No task has a score in both arms for: helpful.')
    expect(page).not.toContain('∞')
  })
})

describe('a transcript', () => {
  const user = (content: string) => ({ role: 'user', parts: [{ type: 'text' as const, content }] })
  const assistant = (content: string) => ({ role: 'assistant', parts: [{ type: 'text' as const, content }] })
  test('says each turn once, though every call repeats its history', () => {
    const episode = sampleEpisode({
      steps: [
        modelStep('hello', { request: { messages: [user('hi')], tools: [], parameters: {} } }),
        toolStep('look', { id: 1 }, { result: { found: true } }),
        modelStep('bye', { request: { messages: [user('hi'), assistant('hello'), user('more')], tools: [], parameters: {} } }),
      ],
      error: { type: 'TypeError', message: 'x' },
    })
    expect(transcript(episode)).toEqual([
      { kind: 'user', head: 'user', text: 'hi' },
      { kind: 'assistant', head: 'assistant', text: 'hello' },
      { kind: 'tool', head: 'look({"id":1})', text: '{"found":true}' },
      { kind: 'user', head: 'user', text: 'more' },
      { kind: 'assistant', head: 'assistant', text: 'bye' },
      { kind: 'error', head: 'TypeError', text: 'x' },
    ])
  })

  test('shows the whole beginning of each conversation, examples too, and a case is headed by what the main agent was asked', async () => {
    const agent: Step = {
      kind: 'agent',
      id: 'a'.repeat(16),
      startedAt: '2026-01-01T00:00:00.000Z',
      durationMs: 1,
      name: 'budgeter',
      output: 'yes',
    }
    const asked = (messages: Message[], more = {}) => modelStep('ok', { request: { messages, tools: [], parameters: {} }, ...more })
    const shots = [user('example?'), assistant('Example.'), user('plan a trip')]
    const episode = sampleEpisode({
      steps: [
        agent,
        asked([user('enough money?')], { parent: agent.id }),
        asked(shots),
        asked([...shots, assistant('ok'), user('thanks')]),
      ],
    })
    expect(transcript(episode).map(({ text }) => text)).toEqual([
      'yes',
      'enough money?',
      'ok',
      'example?',
      'Example.',
      'plan a trip',
      'ok',
      'thanks',
      'ok',
    ])
    const [shown] = await chooseCases(await compareRun(run), runSource(run), run.episodes())
    if (shown?.from === undefined) throw new Error('no case')
    const heading = caseView({ ...shown, from: { ...shown.from, episode } }).text
    expect(/class="case-asked">([^<]*)/.exec(heading)?.[1]).toBe('plan a trip')
  })

  test('parts from another at the first turn that differs', () => {
    const one = transcript(sampleEpisode({ steps: [modelStep('a'), modelStep('b')] }))
    expect(partingTurn(one, one)).toBeUndefined()
    expect(partingTurn(one, transcript(sampleEpisode({ steps: [modelStep('a')] })))).toBe(2)
  })

  test('cuts what is very long and says how much', () => {
    const [, said] = transcript(sampleEpisode({ steps: [modelStep('x'.repeat(5000))] }))
    expect(said?.text).toMatch(/^x{4000}… \(1000 more characters\)$/)
  })
})

test('a value put into markup is escaped, also inside lists; what html made is not', () => {
  expect(html`<p>${['<', html`<b>${'"'}</b>`, undefined, false]}</p>`.text).toBe('<p>&#60;<b>&#34;</b></p>')
})

test('a chart of more tasks than a call may have arguments is drawn', () => {
  const tasks = Array.from({ length: 200_000 }, (_, n) => ({
    task: String(n),
    session: String(n),
    baseline: 0,
    candidate: (n % 5) / 10,
    delta: (n % 5) / 10,
    offTape: { baseline: 0, candidate: 0 },
  }))
  const { text } = deltaChart(tasks, () => undefined)
  expect(text).toContain('160000 better, 40000 the same, 0 worse')
  expect(text).toContain('+0.400')
})
