// Has the trainer look at settings without training: a second, and nothing is written but what it is asked.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { TrainSettings } from './train.ts'
import { startTrainerProcess } from './trainer-process.ts'

/** `processes`: how many are to train. @throws HomegroundError invalid-settings with every fault */
export async function checkSettings(settings: TrainSettings, options: { python: string; processes?: number }): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-settings-'))
  const file = path.join(folder, 'settings.json')
  try {
    fs.writeFileSync(file, JSON.stringify(settings))
    await startTrainerProcess({
      python: options.python,
      given: ['check', file],
      log: path.join(folder, 'log.txt'),
      variables: options.processes === undefined ? {} : launched(options.processes),
      onEvent: () => {},
    }).ended
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** What `accelerate launch` tells the processes that it starts. */
function launched(processes: number): { WORLD_SIZE: string; LOCAL_WORLD_SIZE: string } {
  return { WORLD_SIZE: String(processes), LOCAL_WORLD_SIZE: String(processes) }
}
