// A run's folder while it is being filled: run.json first, then a line for each rollout as it ends, and at the end both files in the run's order. Kill it at any moment and open it again.
import fs from 'node:fs'
import path from 'node:path'
import {
  canonicalJson,
  type Episode,
  formatEpisodeLine,
  HomegroundError,
  type Json,
  JsonLinesWriter,
  makeFolder,
  parseInput,
  readJsonFile,
  readJsonLines,
} from '@homeground/sdk/trace'
import { releaseLock, takeLock } from '../../store/folder-lock.ts'
import { IdTable } from '../environment/id-table.ts'
import { idOf } from '../environment/line-index.ts'
import { writeJson } from '../environment/write.ts'
import { orderLines } from './order-lines.ts'
import { Plan } from './plan.ts'
import { type Rollout, type RunFile, rolloutSchema, runFileSchema } from './types.ts'

export const runFiles = { settings: 'run.json', rollouts: 'rollouts.jsonl', episodes: 'episodes.jsonl', lock: 'run.lock' } as const

export class RunFolder {
  readonly folder: string
  readonly file: RunFile
  readonly plan: Plan
  /** 1 where the rollout at this place of the plan is there. */
  readonly done: Uint8Array
  doneCount = 0
  readonly #rollouts: JsonLinesWriter
  readonly #episodes: JsonLinesWriter
  /** This process began the run: nothing stood there before. */
  readonly #begun: boolean

  private constructor(folder: string, file: RunFile, writers: { rollouts: JsonLinesWriter; episodes: JsonLinesWriter }, begun: boolean) {
    this.folder = folder
    this.#begun = begun
    this.file = file
    this.plan = new Plan(file)
    this.done = new Uint8Array(this.plan.size)
    this.#rollouts = writers.rollouts
    this.#episodes = writers.episodes
  }

  /**
   * Starts the run, or goes on with the one that stands there if it is the same: `onDone` is shown what it holds.
   * @throws HomegroundError run-mismatch; invalid-argument: the folder is something else, or another process fills it
   */
  static async open(folder: string, file: RunFile, onDone: (rollout: Rollout) => void = () => {}): Promise<RunFolder> {
    const absolute = path.resolve(folder)
    refuseForeignFolder(absolute)
    makeFolder(absolute)
    lock(absolute)
    try {
      const settings = path.join(absolute, runFiles.settings)
      const kept = fs.existsSync(settings) ? sameRun(readRunFile(absolute), file, absolute) : file
      if (kept === file) writeJson(settings, file)
      // Opening cuts off the torn last line that a killed writer leaves.
      const writers = {
        rollouts: await JsonLinesWriter.open(path.join(absolute, runFiles.rollouts), { append: true }),
        episodes: await JsonLinesWriter.open(path.join(absolute, runFiles.episodes), { append: true }),
      }
      const run = new RunFolder(absolute, kept, writers, kept === file)
      await run.#readDone(onDone)
      return run
    } catch (error) {
      unlock(absolute)
      throw error
    }
  }

  /** The episode's line first: a rollout that is there has its episode. */
  async add(index: number, rollout: Rollout, episode: Episode): Promise<void> {
    await this.#episodes.writeText(formatEpisodeLine(episode))
    await this.#rollouts.write(rollout)
    this.done[index] = 1
    this.doneCount += 1
  }

  /** When every rollout is there: both files in the run's order, each once. */
  async close(): Promise<void> {
    try {
      await this.#rollouts.close()
      await this.#episodes.close()
      if (this.doneCount === this.plan.size) await this.#order()
    } finally {
      unlock(this.folder)
    }
  }

  /** Instead of `close`, where the run could not begin: a folder that holds no rollout and that we made goes away again. */
  async abandon(): Promise<void> {
    await this.close()
    if (!this.#begun || this.doneCount > 0) return
    for (const name of [runFiles.settings, runFiles.rollouts, runFiles.episodes]) fs.rmSync(path.join(this.folder, name), { force: true })
    if (fs.readdirSync(this.folder).length === 0) fs.rmdirSync(this.folder)
  }

  async #order(): Promise<void> {
    const episodes = new IdTable()
    const indexes = new Int32Array(this.plan.size)
    const file = path.join(this.folder, runFiles.rollouts)
    await orderLines(file, this.plan.size, (bytes, line) => {
      const text = bytes.toString('utf8')
      if (text.trim() === '') return undefined
      const rollout = readRollout(JSON.parse(text), `${file}:${line}`)
      const index = this.plan.indexOf(rollout)
      if (index === undefined || episodes.indexOf(rollout.episode) !== undefined) return index
      indexes[episodes.size] = index
      episodes.push(rollout.episode)
      return index
    })
    await orderLines(path.join(this.folder, runFiles.episodes), this.plan.size, (bytes) => {
      const place = episodes.indexOf(idOf(bytes, 'episode') ?? '')
      return place === undefined ? undefined : indexes[place]
    })
  }

  async #readDone(onDone: (rollout: Rollout) => void): Promise<void> {
    const file = path.join(this.folder, runFiles.rollouts)
    if (!fs.existsSync(file)) return
    for await (const { value, line } of readJsonLines(file)) {
      const rollout = readRollout(value, `${file}:${line}`)
      const index = this.plan.indexOf(rollout)
      if (index === undefined || this.done[index] === 1) continue
      onDone(rollout)
      this.done[index] = 1
      this.doneCount += 1
    }
  }
}

/** @throws HomegroundError not-found, invalid-input */
export function readRunFile(folder: string): RunFile {
  const file = path.join(folder, runFiles.settings)
  const value = readJsonFile(file, {
    missing: `${file}: there is no run there`,
    missingHint: 'homeground run ENV --arm NAME=MODEL makes one',
    broken: 'take the folder from its source again',
  })
  return parseInput(runFileSchema, value, { place: file, what: 'a run (format 1)' })
}

export function readRollout(value: unknown, place: string): Rollout {
  return parseInput(rolloutSchema, value, { place, what: 'a rollout' })
}

/** What decides the results must be the same; where and when it began may differ. */
function sameRun(kept: RunFile, wanted: RunFile, folder: string): RunFile {
  const decisive = ({ environment, arms, harness, tasks, repeats, seed, latency, margin }: RunFile): Record<string, unknown> => ({
    environment: environment.hash,
    // How fast it may be asked changes no answer.
    arms: arms.map(({ concurrency: _, ...arm }) => arm),
    harness,
    tasks,
    repeats,
    seed,
    latency,
    margin,
  })
  const before = decisive(kept)
  const after = decisive(wanted)
  const changed = Object.keys(before).filter((key) => canonicalJson(asJson(before[key])) !== canonicalJson(asJson(after[key])))
  if (changed.length === 0) return kept
  throw new HomegroundError('run-mismatch', `${folder} holds a run with other ${changed.join(', ')}`, {
    hint: 'give the same settings to go on with it, or another --out for a new run',
  })
}

function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value ?? null))
}

function refuseForeignFolder(folder: string): void {
  if (!fs.existsSync(folder) || fs.existsSync(path.join(folder, runFiles.settings))) return
  if (fs.statSync(folder).isDirectory() && fs.readdirSync(folder).every((name) => name === runFiles.lock || name.endsWith('.tmp'))) return
  throw new HomegroundError('invalid-argument', `${folder} exists and is not a run folder (it has no ${runFiles.settings})`, {
    hint: 'give another folder with --out',
  })
}

function lock(folder: string): void {
  takeLock(path.join(folder, runFiles.lock), {
    place: folder,
    busy: 'is filling this run',
    hint: 'wait for it, stop it, or give another --out',
  })
}

function unlock(folder: string): void {
  releaseLock(path.join(folder, runFiles.lock))
}
