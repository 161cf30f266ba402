import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { calibrate, type HumanLabel, readLabels } from '../../../replay/rubric/index.ts'
import { renderLabelPage } from '../../../replay/rubric/label-page/render-label-page.ts'
import type { Rubric } from '../../../replay/rubric/types.ts'
import { browserMissing, openBrowser } from '../../support/browser.ts'
import { missing } from '../../support/require.ts'
import { modelStep, sampleEpisode, sampleTask } from './sample.ts'

const label = (task: string, value: number, by = 'ann'): HumanLabel => ({
  format: 1,
  task,
  criterion: 'polite',
  value,
  by,
  at: '2026-01-01T00:00:00.000Z',
})
const graded = (task: string, value: number | null) => ({ task, scores: { polite: { value } } })

describe('calibration', () => {
  test('a later label of the same person replaces the earlier, people who differ and missing scores do not count', () => {
    const scores = [graded('a', 1), graded('b', 0), graded('c', null), graded('d', 1), graded('e', 1)]
    const labels = [label('a', 0), label('a', 1), label('b', 0), label('c', 1), label('d', 1), label('d', 0, 'bob'), label('e', 0)]
    expect(calibrate(scores, labels)).toEqual([
      {
        criterion: 'polite',
        unscored: 1,
        pairs: 3,
        agreement: expect.closeTo(2 / 3, 12),
        kappa: expect.closeTo(0.4, 12),
        weightedKappa: expect.closeTo(0.4, 12),
        confusion: {
          values: [0, 1],
          counts: [
            [1, 0],
            [1, 1],
          ],
        },
      },
    ])
  })

  test('a line that is no label is named by file and line', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'labels-'))
    onTestFinished(() => fs.rmSync(folder, { recursive: true }))
    const file = path.join(folder, 'labels.jsonl')
    fs.writeFileSync(file, `${JSON.stringify(label('a', 1))}\n${JSON.stringify(label('a', 2))}\n`)
    await expect(readLabels(file)).rejects.toMatchObject({ code: 'invalid-input', message: expect.stringContaining(`${file}:2`) })
  })
})

describe.skipIf(missing('browser', browserMissing()))('the label page in a browser', () => {
  test('keys choose labels, hostile recordings are text, and what is saved reads back as labels', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'label-page-'))
    onTestFinished(() => fs.rmSync(folder, { recursive: true }))
    const rubric: Rubric = {
      criteria: [
        { name: 'actions', type: 'actions', weight: 1, outputs: true },
        { name: 'cheap', type: 'cost', weight: 1, max: 1 },
      ],
    }
    const episode = sampleEpisode({ steps: [modelStep('</script><script>window.broken = 1</script>')] })
    const page = path.join(folder, 'label.html')
    fs.writeFileSync(page, renderLabelPage('desk', rubric, [{ task: sampleTask(), episode }]))
    const browser = await openBrowser()
    onTestFinished(() => browser.close())
    const tab = await browser.newPage()
    await tab.goto(pathToFileURL(page).href)
    await tab.locator('#by').fill('ann')
    await tab.locator('h1').click()
    await tab.keyboard.press('j')
    await tab.keyboard.press('2')
    expect(await tab.locator('header').textContent()).toContain('1 recording. Judge')
    expect(await tab.locator('#count').textContent()).toBe('1 of 1 done')
    expect(await tab.evaluate(`'broken' in window`)).toBe(false)
    const [download] = await Promise.all([tab.waitForEvent('download'), tab.locator('#save').click()])
    const saved = path.join(folder, 'labels.jsonl')
    await download.saveAs(saved)
    expect(await readLabels(saved)).toEqual([
      { format: 1, task: 't1', criterion: 'actions', value: 0, by: 'ann', at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) },
    ])
  })
})
