// The hashes of an environment: a task's is of its content, the environment's covers all that changes what a rollout does or scores, so that two runs can be told to be of the same thing.
import { createHash, type Hash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { canonicalHash, type Json, sha256Hex } from '@homeground/sdk/trace'
import type { Rubric } from '../rubric/types.ts'
import type { EnvironmentFile, Task } from './types.ts'

/** Of all that a task says but its hash. */
export function taskHash(task: Omit<Task, 'hash'>): string {
  return canonicalHash(asJson(task))
}

/** What env.json says of how a task is played. Its other fields (name, version, built, splits, counts, provenance) say where it is from. */
export type PlaySettings = Pick<EnvironmentFile, 'unit' | 'harness' | 'tools' | 'simulator' | 'user'>

export interface HashedParts {
  /** sha256 of tasks.jsonl and of tapes.jsonl. */
  tasks: string
  tapes: string
  rubric: Rubric
  settings: PlaySettings
  /** Mocks and code graders are read here. */
  folder: string
}

/** Settings and rubric are hashed in canonical form: laying them out anew changes nothing. Of a mock or code grader its own file counts, not what that imports. */
export function environmentHash({ tasks, tapes, rubric, settings, folder }: HashedParts): string {
  const { unit, harness, tools, simulator, user } = settings
  const played = canonicalHash(asJson({ unit, harness, tools, simulator, user }))
  const code = codeFiles(settings, rubric).map((file) => `code ${file} ${fileHash(path.resolve(folder, file))}\n`)
  return sha256Hex(`tasks ${tasks}\ntapes ${tapes}\nrubric ${canonicalHash(asJson(rubric))}\nsettings ${played}\n${code.join('')}`)
}

function codeFiles({ tools }: PlaySettings, rubric: Rubric): string[] {
  const mocks = Object.values(tools).flatMap(({ mock }) => (mock === undefined ? [] : [mock]))
  const graders = rubric.criteria.flatMap((criterion) => (criterion.type === 'code' ? [criterion.code] : []))
  return [...new Set([...mocks, ...graders].map((place) => place.split('#')[0] ?? ''))].sort()
}

/** A file that is not there is named when it is needed. */
function fileHash(file: string): string {
  try {
    return createHash('sha256').update(fs.readFileSync(file)).digest('hex')
  } catch {
    return 'none'
  }
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
