import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { compareRun, writeReport } from '../../../../replay/compare/index.ts'
import type { Rollout } from '../../../../replay/run/types.ts'
import { browserMissing, openBrowser } from '../../../support/browser.ts'
import { missing } from '../../../support/require.ts'
import { modelStep, sampleEpisode, toolStep } from '../../rubric/sample.ts'
import { type SampleRunOptions, sampleRun } from '../sample-run.ts'

/** An expression: the texts whose contrast with what lies behind them is under 4.5. */
const contrasts = fs.readFileSync(new URL('contrasts.js', import.meta.url), 'utf8')

const hostile = `</script><script>window.broken=1</script><img src=x onerror="window.broken=1"> $& \u202e 'q' "q"`
const rollout = ({ task, arm }: { task: number; arm: string }): Partial<Rollout> => ({
  score: arm !== 'a' && task % 4 !== 0 ? 1 : task % 8 === 0 ? 1 : 0,
})
const episode = (made: Rollout) =>
  sampleEpisode({
    id: made.episode,
    steps: [modelStep(`${made.arm} says ${hostile}`), toolStep(hostile, { x: hostile }, { result: hostile })],
  })

async function written(options: Partial<SampleRunOptions>): Promise<string> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'report-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  const run = { ...sampleRun({ rollout, episode, ...options }), folder }
  return (await writeReport(run, await compareRun(run))).html
}

describe.skipIf(missing('browser', browserMissing()))('report.html in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
  })

  async function open(file: string, options: { width?: number; dark?: boolean } = {}): Promise<Page> {
    const page = await browser.newPage({
      viewport: { width: options.width ?? 1280, height: 900 },
      colorScheme: options.dark ? 'dark' : 'light',
    })
    onTestFinished(() => page.close())
    const faults: string[] = []
    page.on('console', (message) => faults.push(message.text()))
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('request', (request) => {
      if (!request.url().startsWith('file:')) faults.push(request.url())
    })
    await page.goto(pathToFileURL(file).href)
    expect(faults).toEqual([])
    return page
  }

  test.each([
    [1280, 2, 20],
    [390, 2, 20],
    [390, 4, 20],
    [1280, 4, 1],
    [390, 2, 1],
    [390, 2, 2000],
  ])('nothing runs over the side at %d px with %d arms and %d tasks', async (width, arms, tasks) => {
    const page = await open(await written({ arms: ['a', 'b', 'c', 'd'].slice(0, arms), tasks }), { width })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    expect(await page.locator('.verdict').count()).toBe(arms - 1)
    // The verdict is on the first screen.
    expect((await page.locator('.verdict').first().boundingBox())?.y).toBeLessThan(600)
  })

  test.each([
    [390, 0.62],
    [1280, 0.62],
    [390, 1],
    [390, 0],
  ])('no arm’s name lies on another’s, nor leaves the chart, at %d px with scores of about %d', async (width, about) => {
    const arms = ['baseline-gpt-4o-mini-now', 'careful-with-a-name-that-is-too-long-for-a-telephone-2026', 'sloppy', 'brief-prompt', 'far']
    const shift = (arm: string) => (arm === 'far' ? 0 : 0.02 * arms.indexOf(arm))
    const score = (arm: string) => Math.min(1, Math.max(0, about + (about > 0.9 ? 0 : shift(arm))))
    const cost = (arm: string) => (arm === 'far' ? 0.001 : 0.01)
    const page = await open(await written({ arms, rollout: ({ arm }) => ({ score: score(arm), costUsd: cost(arm) }) }), { width })
    const names = await page.locator('.point-name').all()
    const boxes = await Promise.all(names.map(async (name) => (await name.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }))
    expect(boxes).toHaveLength(5)
    const plot = (await page.locator('.frontier-plot').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
    for (const [index, box] of boxes.entries()) {
      expect(box.width).toBeGreaterThan(20)
      expect(box.x).toBeGreaterThanOrEqual(plot.x - 1)
      expect(box.x + box.width).toBeLessThanOrEqual(plot.x + plot.width + 1)
      expect(box.y).toBeGreaterThanOrEqual(plot.y - 2)
      expect(box.y + box.height).toBeLessThanOrEqual(plot.y + plot.height + 2)
      for (const other of boxes.slice(index + 1)) {
        const apart =
          box.x + box.width <= other.x ||
          other.x + other.width <= box.x ||
          box.y + box.height <= other.y + 0.5 ||
          other.y + other.height <= box.y + 0.5
        expect(apart, JSON.stringify([box, other])).toBe(true)
      }
    }
  })

  test('what was recorded is text, never markup or script', async () => {
    const page = await open(
      await written({
        rollout: (at) => ({
          ...rollout(at),
          error: { type: hostile, message: hostile },
          scores: { [hostile]: { value: 1, weight: 1, reason: hostile } },
        }),
      }),
    )
    await page.evaluate(`for (const details of document.querySelectorAll('details')) details.open = true`)
    expect(await page.evaluate(`'broken' in window`)).toBe(false)
    expect(await page.locator('img').count()).toBe(0)
    const said = await page.locator('.turn-assistant .text').first().textContent()
    expect(said).toBe(`a says </script><script>window.broken=1</script><img src=x onerror="window.broken=1"> $& \\u202e 'q' "q"`)
  })

  test('a task links to its two episodes, which open marked where they part', async () => {
    const page = await open(await written({}))
    await page.locator('.all-tasks > summary').click()
    await page.locator('.tasks a', { hasText: 'task-1' }).first().click()
    const shown = page.locator('.case[open]')
    expect(await shown.count()).toBe(1)
    expect(await shown.locator('.side').count()).toBe(2)
    expect(await shown.locator('.parting').count()).toBe(2)
  })

  test('the filter and the buttons leave the rows asked for', async () => {
    const page = await open(await written({}))
    await page.keyboard.press('/')
    await page.keyboard.type('task-1')
    expect(await page.locator('.tasks tbody tr:visible').count()).toBe(11)
    await page.getByRole('button', { name: 'better' }).click()
    expect(await page.locator('.tasks tbody tr:visible').count()).toBe(9)
  })

  test('j and k walk through the episodes, Enter opens one', async () => {
    const page = await open(await written({}))
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await page.keyboard.press('Enter')
    expect(await page.locator('.case').first().getAttribute('open')).toBe('')
  })

  test('light and dark have their own colours, with a contrast of text of at least 4.5', async () => {
    const file = await written({})
    for (const dark of [false, true]) {
      const page = await open(file, { dark })
      expect(await page.evaluate(contrasts), dark ? 'dark' : 'light').toEqual([])
    }
  })

  test('prints with the verdict, without the controls', async () => {
    const page = await open(await written({}))
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('.verdict').first().isVisible()).toBe(true)
    expect(await page.locator('nav').isVisible()).toBe(false)
    expect((await page.pdf({ format: 'A4' })).byteLength).toBeGreaterThan(10_000)
  })
})
