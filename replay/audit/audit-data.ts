// What is wrong with the tasks themselves: answers that stand in the prompt, and test tasks that train has seen.

import type { Environment, Task } from '../environment/types.ts'
import { answerText } from '../rubric/episode-reading.ts'
import { says } from '../rubric/text-match.ts'
import { nearDuplicates } from './near-duplicates.ts'
import { textOf } from './policies.ts'
import type { Finding } from './types.ts'

/** Shorter answers stand in a prompt by chance. */
const shortestLeak = 12

export async function auditData(environment: Environment): Promise<Finding[]> {
  const leaking: string[] = []
  const train: { id: string; text: string }[] = []
  const test: { id: string; text: string }[] = []
  for await (const task of environment.tasks()) {
    if (leaks(task)) leaking.push(task.id)
    // The system prompt is the same everywhere: what users said is the task.
    const text = textOf(task, (message) => message.role === 'user')
    // One without words, a picture alone, is like no other.
    if (!/[\p{L}\p{N}]/u.test(text)) continue
    if (task.split === 'test') test.push({ id: task.id, text })
    if (task.split === 'train') train.push({ id: task.id, text })
  }
  const findings: Finding[] = []
  if (leaking.length > 0)
    findings.push({
      kind: 'reference-leak',
      where: 'tasks',
      severity: 'hole',
      sentence: `The reference output of ${leaking.length} tasks stands word for word in what the agent is shown.`,
      hint: 'take it out of the prompt, or grade by something else',
      tasks: leaking.slice(0, 10),
    })
  const pairs = nearDuplicates(train, test)
  if (pairs.length > 0)
    findings.push({
      kind: 'near-duplicates',
      where: 'splits',
      severity: 'hole',
      sentence: `${pairs.length} test tasks have a near-duplicate in train (at least 90 % of their word triples).`,
      hint: 'put them into one session, or build with one of each',
      tasks: pairs.slice(0, 10).map((pair) => pair.test),
    })
  return findings
}

function leaks(task: Task): boolean {
  const output = task.reference?.output
  if (output === undefined) return false
  const wanted = answerText(output).trim()
  return (
    wanted.length >= shortestLeak &&
    says(
      textOf(task, () => true),
      wanted,
    )
  )
}
