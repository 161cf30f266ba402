// A run's tasks with their tapes and recordings, read once for all arms and repeats of a task and then let go.
import type { Episode } from '@homeground/sdk/trace'
import { HomegroundError } from '@homeground/sdk/trace'
import type { Environment, TapeEntry, Task } from '../environment/types.ts'

export interface TaskMaterial {
  task: Task
  entries: readonly TapeEntry[]
  recording: Episode | undefined
}

/** Rollouts are taken in task order, so the last few tasks are all that are asked for again. */
const kept = 64

interface Kept {
  reading: Promise<TaskMaterial>
  /** How often it may be asked for yet. */
  left: number
}

export class TaskSource {
  readonly #environment: Environment
  readonly #recordings: boolean
  readonly #uses: number
  readonly #recent = new Map<string, Kept>()

  /** `uses`: how often each task is asked for; after that it is let go. @default not known */
  constructor(environment: Environment, options: { recordings: boolean; uses?: number }) {
    this.#environment = environment
    this.#recordings = options.recordings
    this.#uses = options.uses ?? Number.POSITIVE_INFINITY
  }

  get(id: string): Promise<TaskMaterial> {
    const { reading, left } = this.#recent.get(id) ?? { reading: this.#read(id), left: this.#uses }
    this.#recent.delete(id)
    if (left > 1) this.#recent.set(id, { reading, left: left - 1 })
    const [oldest] = this.#recent.keys()
    if (this.#recent.size > kept && oldest !== undefined) this.#recent.delete(oldest)
    return reading
  }

  async #read(id: string): Promise<TaskMaterial> {
    const task = await this.#environment.task(id)
    if (task === undefined) {
      throw new HomegroundError('run-mismatch', `the environment has no task ${id} any more`, {
        hint: 'start a new run with another --out',
      })
    }
    const tape = await this.#environment.tape(id)
    return { task, entries: tape.entries, recording: this.#recordings ? await this.#environment.recording(id) : undefined }
  }
}
