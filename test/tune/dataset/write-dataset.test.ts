import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { writeDataset } from '../../../tune/dataset/write-dataset.ts'
import { sourceOf } from './case-source.ts'

test.each(['env.json', 'run.json'])('rows are not written into a folder with %s, nor over a folder', async (owner) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-rows-'))
  fs.mkdirSync(path.join(folder, 'owned'))
  fs.writeFileSync(path.join(folder, 'owned', owner), '{}')
  fs.writeFileSync(path.join(folder, 'owned', 'tasks.jsonl'), 'mine')
  for (const file of [path.join(folder, 'owned', 'tasks.jsonl'), path.join(folder, 'owned')]) {
    await expect(writeDataset(sourceOf([]), file, { format: 'trl-sft' }, { from: [] })).rejects.toMatchObject({ code: 'invalid-argument' })
  }
  expect(fs.readFileSync(path.join(folder, 'owned', 'tasks.jsonl'), 'utf8')).toBe('mine')
  fs.rmSync(folder, { recursive: true })
})
