// The hashes of an environment: a task's is of its content, the environment's covers tasks, tapes and rubric, so that two runs can be told to be of the same thing.
import { createHash, type Hash } from 'node:crypto'
import { canonicalHash, type Json, sha256Hex } from '@homeground/sdk/trace'
import type { Rubric } from '../rubric/types.ts'
import type { Task } from './types.ts'

/** Of all that a task says but its hash. */
export function taskHash(task: Omit<Task, 'hash'>): string {
  return canonicalHash(asJson(task))
}

/** The bytes of tasks.jsonl and tapes.jsonl, each hashed, and the rubric in canonical form: laying it out anew changes nothing. */
export function environmentHash(parts: { tasks: string; tapes: string; rubric: Rubric }): string {
  return sha256Hex(`tasks ${parts.tasks}\ntapes ${parts.tapes}\nrubric ${canonicalHash(asJson(parts.rubric))}\n`)
}

/** Of a file's lines, fed in order. */
export function lineHash(): { add(line: string): void; digest(): string } {
  const hash: Hash = createHash('sha256')
  return {
    add(line) {
      hash.update(line)
      hash.update('\n')
    },
    digest: () => hash.digest('hex'),
  }
}

function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value))
}
