// Small models to try things with, made in the trainer's Python: a real one out of a wheel, and a random one for tests.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { HomegroundError, makeFolder } from '@homeground/sdk/trace'
import { startTrainerProcess } from './trainer-process.ts'

export interface MakeModelOptions {
  python: string
  /** `smollm2`: SmolLM2-135M-Instruct with a chat template that knows tools. `tiny`: two random layers. */
  which: 'smollm2' | 'tiny'
  /** Must not be there yet, or be empty. */
  folder: string
  /** Of `tiny`: a file whose words its tokenizer learns. */
  texts?: string
}

/** @throws HomegroundError invalid-argument, not-found (the package that carries the model is not installed), training-failed */
export async function makeModel(options: MakeModelOptions): Promise<void> {
  if (fs.existsSync(options.folder) && fs.readdirSync(options.folder).length > 0) {
    throw new HomegroundError('invalid-argument', `${options.folder} is not empty`, { hint: 'give a folder that is not there yet' })
  }
  makeFolder(options.folder)
  const logs = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-model-'))
  const texts = options.texts === undefined ? [] : ['--texts', options.texts]
  try {
    await startTrainerProcess({
      python: options.python,
      given: ['model', options.which, options.folder, ...texts],
      log: path.join(logs, 'log.txt'),
      onEvent: () => {},
    }).ended
  } catch (error) {
    // Half a model would be in the way of the next try.
    fs.rmSync(options.folder, { recursive: true, force: true })
    throw error
  }
  // Kept where it failed: the error names it.
  fs.rmSync(logs, { recursive: true, force: true })
}
