// What differs between two environments: tasks, splits, rubric, tools and settings. Tasks stream; what is held is the ids of those that differ.
import { canonicalJson, type Json } from '@homeground/sdk/trace'
import type { Environment, Split, Task } from './types.ts'

export interface EnvironmentDifference {
  a: EnvironmentName
  b: EnvironmentName
  /** Their hashes are equal: rollouts in one are rollouts in the other. */
  same: boolean
  tasks: {
    unchanged: number
    /** Ids, in file order. */
    added: string[]
    removed: string[]
    changed: ChangedTask[]
    moved: MovedTask[]
  }
  /** Criteria and their fields. */
  rubric: Changes
  /** Tools and their fields: mode, onMiss, … */
  tools: Changes
  /** Other fields of env.json that change a rollout (unit, harness, simulator, user), and how tasks were split. */
  settings: FieldChange[]
}

export interface EnvironmentName {
  name: string
  version: string
  folder: string
  hash: string
  tasks: number
}

/** `fields`: members of the task, or `tape`. */
export interface ChangedTask {
  id: string
  fields: string[]
}

export interface MovedTask {
  id: string
  session: string
  from: Split
  to: Split
}

export interface Changes {
  added: string[]
  removed: string[]
  changed: ({ name: string } & FieldChange)[]
}

/** `null` where a side has no such field. */
export interface FieldChange {
  field: string
  from: Json
  to: Json
}

export async function diffEnvironments(a: Environment, b: Environment): Promise<EnvironmentDifference> {
  return {
    a: nameOf(a),
    b: nameOf(b),
    same: a.file.hash === b.file.hash,
    tasks: await diffTasks(a, b),
    rubric: diffNamed(criteriaOf(a), criteriaOf(b)),
    tools: diffNamed(asJson(a.file.tools), asJson(b.file.tools)),
    settings: fieldChanges(settingsOf(a), settingsOf(b)),
  }
}

function nameOf({ file: { name, version, hash }, folder, size }: Environment): EnvironmentName {
  return { name, version, folder, hash, tasks: size }
}

async function diffTasks(a: Environment, b: Environment): Promise<EnvironmentDifference['tasks']> {
  const found: EnvironmentDifference['tasks'] = { unchanged: 0, added: [], removed: [], changed: [], moved: [] }
  const common = new Set<string>()
  for await (const task of a.tasks()) {
    const other = await b.task(task.id)
    if (other === undefined) {
      found.removed.push(task.id)
      continue
    }
    common.add(task.id)
    if (task.split !== other.split) found.moved.push({ id: task.id, session: other.session, from: task.split, to: other.split })
    const fields = await changedFields({ task, environment: a }, { task: other, environment: b })
    if (fields.length > 0) found.changed.push({ id: task.id, fields })
    else if (task.split === other.split) found.unchanged += 1
  }
  for await (const { id } of b.tasks()) if (!common.has(id)) found.added.push(id)
  return found
}

interface Side {
  task: Task
  environment: Environment
}

/** But for the split and the hash, which are told elsewhere. */
async function changedFields(a: Side, b: Side): Promise<string[]> {
  const { hash: _a, split: _from, ...one } = a.task
  const { hash: _b, split: _to, ...other } = b.task
  const fields = a.task.hash === b.task.hash ? [] : fieldChanges(asJson(one), asJson(other)).map(({ field }) => field)
  const tapes = await Promise.all([a, b].map(({ task, environment }) => environment.tape(task.id)))
  const [before, after] = tapes.map(({ entries }) => canonicalJson(JSON.parse(JSON.stringify(entries))))
  return before === after ? fields : [...fields, 'tape']
}

function criteriaOf({ rubric }: Environment): { [name: string]: Json } {
  return asJson(Object.fromEntries(rubric.criteria.map(({ name, ...criterion }) => [name, criterion])))
}

function settingsOf({ file }: Environment): { [name: string]: Json } {
  const { unit, harness, simulator, user, splits, splitBy } = file
  return asJson({ unit, harness, simulator, user, splits, splitBy })
}

function diffNamed(a: { [name: string]: Json }, b: { [name: string]: Json }): Changes {
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  const changes: Changes = { added: [], removed: [], changed: [] }
  for (const name of names) {
    const [before, after] = [a[name], b[name]]
    if (before === undefined) changes.added.push(name)
    else if (after === undefined) changes.removed.push(name)
    else for (const change of fieldChanges(members(before), members(after))) changes.changed.push({ name, ...change })
  }
  return changes
}

function fieldChanges(a: { [name: string]: Json }, b: { [name: string]: Json }): FieldChange[] {
  const fields = [...new Set([...Object.keys(a), ...Object.keys(b)])]
  return fields
    .map((field) => ({ field, from: a[field] ?? null, to: b[field] ?? null }))
    .filter(({ from, to }) => canonicalJson(from) !== canonicalJson(to))
}

function members(value: Json): { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { value }
}

/** What is absent is absent in JSON too. */
function asJson(value: object): { [name: string]: Json } {
  return JSON.parse(JSON.stringify(value))
}
