// Has the trainer look at settings without training: a second, and nothing is written but what it is asked.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { TrainSettings } from './train.ts'
import { startTrainerProcess } from './trainer-process.ts'

/** @throws HomegroundError invalid-settings with every fault */
export async function checkSettings(settings: TrainSettings, { python }: { python: string }): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-settings-'))
  const file = path.join(folder, 'settings.json')
  try {
    fs.writeFileSync(file, JSON.stringify(settings))
    await startTrainerProcess({ python, given: ['check', file], log: path.join(folder, 'log.txt'), onEvent: () => {} }).ended
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
