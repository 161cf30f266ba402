// Opens a run folder for reading: what was asked for, what is there, and both files as streams.
import fs from 'node:fs'
import path from 'node:path'
import { expandEpisodeLine, readJsonLines } from '@homeground/sdk/trace'
import { Plan } from './plan.ts'
import { readRollout, readRunFile, runFiles } from './run-folder.ts'
import type { Run, RunFile } from './types.ts'

/** `known`: what this process wrote there itself. A run that is still being filled opens too: its torn last line is passed over. @throws HomegroundError not-found, invalid-input */
export async function openRun(folder: string, known?: { file: RunFile; plan: Plan }): Promise<Run> {
  const absolute = path.resolve(folder)
  const file = known?.file ?? readRunFile(absolute)
  const plan = known?.plan ?? new Plan(file)
  const rolloutsFile = path.join(absolute, runFiles.rollouts)
  const episodesFile = path.join(absolute, runFiles.episodes)

  async function* rollouts(): ReturnType<Run['rollouts']> & AsyncGenerator {
    if (!fs.existsSync(rolloutsFile)) return
    const seen = new Uint8Array(plan.size)
    for await (const { value, line } of readJsonLines(rolloutsFile, { tornTail: 'skip' })) {
      const rollout = readRollout(value, `${rolloutsFile}:${line}`)
      const index = plan.indexOf(rollout)
      if (index === undefined || seen[index] === 1) continue
      seen[index] = 1
      yield rollout
    }
  }

  let done = 0
  for await (const _rollout of rollouts()) done += 1
  return {
    folder: absolute,
    file,
    rollouts,
    async *episodes() {
      if (!fs.existsSync(episodesFile)) return
      for await (const { value, line } of readJsonLines(episodesFile, { tornTail: 'skip' })) {
        yield expandEpisodeLine(value, `${episodesFile}:${line}`)
      }
    },
    size: { planned: plan.size, done },
  }
}
