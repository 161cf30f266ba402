import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LoopState } from '../../../tune/loop/state.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-loop-state-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

test('a ledger with half a line names the file, the line and what was expected', () => {
  fs.writeFileSync(path.join(folder, 'ledger.jsonl'), '\n\n{"iteration": 1, "outc')
  expect(() => new LoopState(folder).iterations()).toThrow(
    expect.objectContaining({ code: 'invalid-input', message: expect.stringMatching(/ledger\.jsonl:3: not an iteration/) }),
  )
})

test('progress that is no JSON names the file and what to do', () => {
  fs.writeFileSync(path.join(folder, 'progress.json'), '{"iteration"')
  expect(() => new LoopState(folder).progress(() => new Date(0))).toThrow(
    expect.objectContaining({
      code: 'invalid-input',
      message: expect.stringMatching(/progress\.json: not JSON/),
      hint: expect.stringMatching(/remove it/),
    }),
  )
})
