import { expect, test } from 'vitest'
import { auditRuns } from '../../../replay/audit/audit-runs.ts'
import type { Rollout, Run } from '../../../replay/run/types.ts'

type Told = Pick<Rollout, 'task' | 'score' | 'error'>

/** All that is read of a run are these of its rollouts. */
function runOf(rollouts: readonly Told[]): Run {
  const run = {
    async *rollouts() {
      yield* rollouts
    },
  }
  return run as unknown as Run
}

test('tasks that nobody and everybody solves are named, where they were tried often enough', async () => {
  const score = (task: string, tries: (number | null)[]) => tries.map((value): Pick<Rollout, 'task' | 'score'> => ({ task, score: value }))
  const rollouts = [
    ...score('never', [0, 0, 0, 0]),
    ...score('always', [1, 1, 1, 1, null]),
    ...score('sometimes', [0, 1, 0, 0]),
    ...score('seldom tried', [0, 0, null, null]),
  ]
  const findings = await auditRuns([runOf(rollouts)])
  expect(findings).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        kind: 'nobody-solves',
        severity: 'note',
        tasks: ['never'],
        sentence: expect.stringMatching(/^1 of 3 tasks/),
      }),
      expect.objectContaining({
        kind: 'everybody-solves',
        severity: 'note',
        tasks: ['always'],
        sentence: expect.stringMatching(/^1 of 3 tasks/),
      }),
    ]),
  )
})

test('tasks in which the product was stopped are named with the cause', async () => {
  const error = { type: 'unwrapped-process', message: 'in a replay the product tried to start a process of its own (git status)' }
  const rollouts = ['one', 'one', 'two'].map((task): Pick<Rollout, 'task' | 'score' | 'error'> => ({ task, score: null, error }))
  const findings = await auditRuns([runOf(rollouts)])
  expect(findings.filter(({ kind }) => kind === 'product-stopped')).toEqual([
    {
      kind: 'product-stopped',
      where: 'tasks',
      severity: 'note',
      sentence: `The product was stopped in 2 tasks, which have no score for it: ${error.message}`,
      hint: expect.stringContaining('allowProcesses'),
      tasks: ['one', 'two'],
    },
  ])
})
