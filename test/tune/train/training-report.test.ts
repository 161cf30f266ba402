import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { modelFileSchema } from '../../../tune/train/lineage.ts'
import { writeTrainingReport } from '../../../tune/train/training-report.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-training-report-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

const hash = { path: 'x', sha256: '0' }
const model = modelFileSchema.parse({
  format: 1,
  name: '<b>desk</b>',
  kind: 'adapter',
  path: 'adapter',
  recipe: 'grpo',
  base: { path: 'models/base', sha256: '0' },
  data: [],
  environments: [],
  settings: hash,
  seed: 0,
  versions: {},
  trainedAt: '',
  metrics: { steps: 3, seconds: 9, trainable: 1, loss: { first: 1, last: 1 }, validationLoss: [] },
  gates: [],
})

function report(lines: readonly object[]): string {
  fs.writeFileSync(path.join(folder, 'metrics.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return fs.readFileSync(writeTrainingReport(folder, model), 'utf8')
}

const step = (number: number, reward: number | null) => ({ event: 'step', step: number, loss: 0, reward, criteria: { solved: reward } })

it('draws reward, criteria and held-out loss; a step that was told twice counts once, one without a score is left out', () => {
  const text = report([step(1, 0.1), step(2, 0.9), step(2, 0.2), step(3, null), step(4, 0.4), { event: 'evaluation', step: 0, loss: 2 }])
  expect([...text.matchAll(/aria-label="([^"]*)"/g)].map(([, label]) => label)).toEqual([
    'reward, mean of the step: 0.1 at step 1, 0.4 at step 4',
    'loss: 0 at step 1, 0 at step 4',
    'criterion solved: 0.1 at step 1, 0.4 at step 4',
  ])
  expect(text).toContain('<polyline points="0.0,100.0 100.0,66.7 300.0,0.0"/>')
})

it('tells each kind of warning once, and shows names as text', () => {
  const warning = { event: 'warning', code: 'zero-variance', message: 'all <alike>' }
  const text = report([warning, { ...warning, message: 'again' }])
  expect([...text.matchAll(/<li>.*?<\/li>/g)].map(([item]) => item)).toEqual(['<li><b>zero-variance</b> all &#60;alike&#62;</li>'])
  expect([text.includes('<b>desk'), text.includes('&#60;b&#62;desk')]).toEqual([false, true])
})

it('draws a run of more steps than a call may have arguments', () => {
  const text = report(Array.from({ length: 200_000 }, (_, n) => ({ event: 'step', step: n, loss: (n % 7) + 1 })))
  expect(text).toContain('1 to 7 over steps 0 to 199999')
})
