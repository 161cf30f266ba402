// The order of a run: task, then arm, then repeat. A place in it is one number, so that a run of millions is an array of bytes.
import { PositionTable } from '../environment/id-table.ts'
import type { RunFile } from './types.ts'

export interface Planned {
  task: string
  arm: RunFile['arms'][number]
  repeat: number
}

export class Plan {
  readonly size: number
  readonly #file: Pick<RunFile, 'tasks' | 'arms' | 'repeats'>
  readonly #tasks: PositionTable
  readonly #arms: Map<string, number>

  constructor(file: Pick<RunFile, 'tasks' | 'arms' | 'repeats'>) {
    this.#file = file
    this.#tasks = new PositionTable((position) => file.tasks[position])
    for (const [index, task] of file.tasks.entries()) this.#tasks.add(task, index)
    this.#arms = new Map(file.arms.map((arm, index) => [arm.name, index]))
    this.size = file.tasks.length * file.arms.length * file.repeats
  }

  at(index: number): Planned {
    const { tasks, arms, repeats } = this.#file
    const repeat = index % repeats
    const arm = arms[Math.floor(index / repeats) % arms.length]
    const task = tasks[Math.floor(index / repeats / arms.length)]
    if (arm === undefined || task === undefined) throw new RangeError(`the run has ${this.size} rollouts, not ${index + 1}`)
    return { task, arm, repeat }
  }

  /** `undefined` for what is not of this run. */
  indexOf(rollout: { task: string; arm: string; repeat: number }): number | undefined {
    const task = this.#tasks.find(rollout.task)
    const arm = this.#arms.get(rollout.arm)
    if (task === undefined || arm === undefined || rollout.repeat >= this.#file.repeats) return undefined
    return (task * this.#file.arms.length + arm) * this.#file.repeats + rollout.repeat
  }
}
