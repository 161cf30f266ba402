import { describe, expect, test } from 'vitest'
import { actions } from '../../../replay/rubric/graders/actions.ts'
import { scoreEpisode } from '../../../replay/rubric/index.ts'
import { modelStep, sampleEpisode, sampleTask, toolStep } from './sample.ts'
import { tauBenchEpisodes, tauBenchTools } from './tau-bench.ts'

const criterion = { name: 'actions', type: 'actions' as const, weight: 1, outputs: true }
const refund = { name: 'refund', arguments: { order: '7', amount: 5 } }

function grade(parts: Parameters<typeof sampleEpisode>[0], reference?: Parameters<typeof sampleTask>[0], tools = {}) {
  return actions({ criterion, episode: sampleEpisode(parts), task: sampleTask(reference), tools, costUsd: undefined })
}

describe('the actions grader', () => {
  test('agrees with the published reward on 197 of the 200 real episodes', async () => {
    const tools = await tauBenchTools()
    const disagreements: string[] = []
    for (const { taskId, trial, reward, episode, task } of await tauBenchEpisodes()) {
      const { score } = await scoreEpisode({ criteria: [criterion] }, { episode, task, tools, costUsd: undefined })
      if (score !== reward) disagreements.push(`task ${taskId} trial ${trial}: ${score}, published ${reward}`)
    }
    // 2: a total of savings that differs though every text and action is there; 5: two extra fields in the flights; 46: published as failed without a trace of why.
    expect(disagreements).toEqual(['task 2 trial 1: 1, published 0', 'task 5 trial 1: 0, published 1', 'task 46 trial 3: 1, published 0'])
  })

  test('takes the calls in any order, and their arguments in any spelling', () => {
    const cancel = { name: 'cancel', arguments: { id: 'é' } }
    const steps = [toolStep('cancel', { id: 'e\u0301' }), toolStep('refund', { amount: 5, order: '7' })]
    expect(grade({ steps }, { actions: [refund, cancel] })).toEqual({
      value: 1,
      weight: 1,
      reason: 'all 2 effectful calls are those of the reference',
    })
  })

  test('counts a call that is made twice as two', () => {
    const steps = [toolStep('refund', refund.arguments), toolStep('refund', refund.arguments)]
    expect(grade({ steps }, { actions: [refund] })).toEqual({
      value: 0,
      weight: 1,
      reason: 'unexpected refund({"amount":5,"order":"7"})',
    })
  })

  test.each([
    ['a thrown error', toolStep('refund', refund.arguments, { error: 'closed' })],
    ['a result that begins with Error', toolStep('refund', refund.arguments, { result: 'Error: order is closed' })],
    ["MCP's isError", toolStep('refund', refund.arguments, { result: { isError: true, content: [] } })],
    ['an error member', toolStep('refund', refund.arguments, { result: { error: 'closed' } })],
  ])('does not count a call that failed by %s', (_, step) => {
    expect(grade({ steps: [step] }, { actions: [refund] })).toEqual({
      value: 0,
      weight: 1,
      reason: 'missing refund({"amount":5,"order":"7"})',
    })
    expect(grade({ steps: [step] }, { actions: [] })).toMatchObject({ value: 1 })
  })

  test('counts a call that the recording had no answer to: live it would have been run', () => {
    const unanswered = { ...toolStep('refund', refund.arguments, { error: 'was not called with these arguments' }), offTape: 'error' }
    expect(grade({ steps: [unanswered] }, { actions: [] })).toEqual({
      value: 0,
      weight: 1,
      reason: 'unexpected refund({"amount":5,"order":"7"}), which the recording has no answer to',
    })
    expect(grade({ steps: [unanswered] }, { actions: [refund] })).toMatchObject({ value: 1 })
  })

  test('leaves out calls that change nothing, on both sides, by the environment before the recording', () => {
    const look = { name: 'look', arguments: {} }
    const steps = [toolStep('look', {}, { effect: 'unknown' })]
    const tools = { look: { effect: 'read' as const, mode: 'tape' as const, onMiss: 'error' as const } }
    expect(grade({ steps }, { actions: [] }, tools)).toMatchObject({ value: 1 })
    expect(grade({ steps: [] }, { actions: [look] }, tools)).toMatchObject({ value: 1 })
    expect(grade({ steps }, { actions: [] })).toMatchObject({ value: 0 })
  })

  test('leaves out ignored arguments', () => {
    const steps = [toolStep('refund', { ...refund.arguments, key: 'random' })]
    const tools = { refund: { mode: 'tape' as const, onMiss: 'error' as const, ignoreArguments: ['key'] } }
    expect(grade({ steps }, { actions: [refund] }, tools)).toMatchObject({ value: 1 })
    expect(grade({ steps }, { actions: [refund] })).toMatchObject({ value: 0 })
  })

  test('wants the reference outputs said to the user by the main agent', () => {
    const reference = { actions: [], outputs: ['23553'] }
    expect(grade({ steps: [modelStep('You save $23,553.00 in all.')] }, reference)).toMatchObject({ value: 1 })
    expect(grade({ steps: [modelStep('You save a lot.')] }, reference)).toEqual({
      value: 0,
      weight: 1,
      reason: 'not said to the user: "23553"',
    })
    const agent = { kind: 'agent' as const, id: 'd'.repeat(16), startedAt: '', durationMs: 1, name: 'sub' }
    expect(grade({ steps: [agent, modelStep('23553', { parent: agent.id })] }, reference)).toMatchObject({ value: 0 })
  })

  test('reads the calls from the messages where the tools left no spans', () => {
    const call = { type: 'tool_call' as const, id: 'x', name: 'refund', arguments: refund.arguments }
    const answer = { role: 'tool', parts: [{ type: 'tool_call_response' as const, id: 'x', response: 'done' }] }
    const first = modelStep([call])
    const second = modelStep('done', {
      request: { messages: [...first.request.messages, { role: 'assistant', parts: [call] }, answer], tools: [], parameters: {} },
    })
    expect(grade({ steps: [first, second] }, { actions: [refund] })).toMatchObject({ value: 1 })
    // Never answered: never carried out.
    expect(grade({ steps: [first] }, { actions: [refund] })).toMatchObject({ value: 0 })
  })

  test('has no score without reference actions, nor where the run broke off', () => {
    expect(grade({ steps: [] })).toEqual({ value: null, weight: 1, reason: 'the task has no reference actions' })
    expect(grade({ error: { type: 'TypeError', message: 'x' } }, { actions: [] })).toEqual({
      value: null,
      weight: 1,
      reason: 'the run ended with TypeError: x',
    })
  })
})
