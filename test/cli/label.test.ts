// What a person says on the page of `homeground label` tells how far the judge is to be trusted: from the command, through a browser, to agreement and kappa.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { startModelServer } from '@homeground/sdk/testing'
import { formatEpisodeLine } from '@homeground/sdk/trace'
import { expect, onTestFinished, test } from 'vitest'
import { airlineEpisodes, episodeOf, text } from '../replay/support/episodes.ts'
import { browserMissing, openBrowser } from '../support/browser.ts'
import { homegroundCommand } from '../support/command.ts'
import { missing } from '../support/require.ts'

const answers = ['Gladly: it is on its way.', 'Please wait a day.', 'No.', 'Please find out yourself.']
const polite = { name: 'polite', type: 'judge', weight: 1, model: 'judge', instructions: 'The agent is polite.' }

test.skipIf(missing('browser', browserMissing()))(
  'labels chosen in a browser say how far a judge agrees with people',
  { timeout: 120_000 },
  async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-label-'))
    onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
    const at = (...names: string[]) => path.join(folder, ...names)
    const episodes = answers.map((answer, index) => episodeOf(`e${index}`, [text('user', 'Where is it?'), text('assistant', answer)]))
    fs.writeFileSync(at('episodes.jsonl'), episodes.map((episode) => `${formatEpisodeLine(episode)}\n`).join(''))
    fs.writeFileSync(at('rubric.json'), JSON.stringify({ criteria: [polite] }))
    const homeground = async (...args: string[]) => {
      const { code, stdout, stderr } = await homegroundCommand(args, { HOMEGROUND_JUDGE_URL: judge.url }, { cwd: folder })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return stdout
    }
    // It takes "please" for politeness: wrong of the first answer and of the last.
    const judge = await startModelServer({
      policy: ({ body }) => {
        const [asked, shown] = body['messages'] as { content: string }[]
        const ticket = /"ticket": "(\w+)"/.exec(asked?.content ?? '')?.[1]
        return JSON.stringify({ ticket, reason: 'so it seems', verdict: shown?.content.includes('Please') ? 'pass' : 'fail' })
      },
    })
    onTestFinished(() => judge.close())
    await homegroundCommand(
      ['env', 'build', 'env', '--episodes', 'episodes.jsonl', '--harness', 'loop', '--rubric', 'rubric.json'],
      {},
      { cwd: folder },
    )
    expect(await homeground('label', 'env')).toContain('4 recordings; open it in a browser')

    const browser = await openBrowser()
    onTestFinished(() => browser.close())
    const tab = await browser.newPage({ viewport: { width: 390, height: 400 } })
    await tab.goto(pathToFileURL(at('env', 'label.html')).href)
    await tab.locator('#by').fill('ann')
    for (const [index, answer] of answers.entries()) {
      const article = tab.locator('article').filter({ hasText: answer })
      await article.getByLabel(index < 2 ? 'pass' : 'fail').check()
    }
    // The button stays in sight, however far down the page.
    await tab.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    expect((await tab.locator('#save').boundingBox())?.y).toBeGreaterThanOrEqual(0)
    const [download] = await Promise.all([tab.waitForEvent('download'), tab.locator('#save').click()])
    await download.saveAs(at('labels.jsonl'))

    const { calibration } = JSON.parse(await homeground('--json', 'grade', 'env', '--labels', 'labels.jsonl'))
    expect(calibration).toEqual([
      {
        criterion: 'polite',
        unscored: 0,
        pairs: 4,
        agreement: 0.5,
        kappa: 0,
        weightedKappa: 0,
        confusion: {
          values: [0, 1],
          counts: [
            [1, 1],
            [1, 1],
          ],
        },
      },
    ])
    expect(await homeground('grade', 'env', '--labels', 'labels.jsonl')).toMatch(/^polite\s+4\s+50 %\s+0\.00\s+0\.00\s+0$/m)
  },
)

test('shows of a decision what led to it and not what came of it, and takes its recordings from all over', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-label-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  fs.writeFileSync(path.join(folder, 'episodes.jsonl'), `${airlineEpisodes(4).map(formatEpisodeLine).join('\n')}\n`)
  fs.writeFileSync(path.join(folder, 'rubric.json'), JSON.stringify({ criteria: [polite] }))
  const homeground = (...args: string[]) => homegroundCommand(args, {}, { cwd: folder })
  await homeground('env', 'build', 'env', '--episodes', 'episodes.jsonl', '--harness', 'turn', '--rubric', 'rubric.json')
  const { stdout } = await homeground('--json', 'env', 'show', 'env', '--tasks')
  const tasks = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id as string)
  await homeground('label', 'env', '--limit', '5')
  const page = fs.readFileSync(path.join(folder, 'env', 'label.html'), 'utf8')
  const articles = page.split('<article ').slice(1)
  const shown = articles.map((article) => /data-task="([^"]+)"/.exec(article)?.[1])
  expect(shown).toEqual(Array.from({ length: 5 }, (_, at) => tasks[Math.ceil((at * tasks.length) / 5)]))
  expect(shown[0]).toMatch(/-1$/)
  // The first decision of a conversation: one user turn, and one answer or call.
  expect(articles[0]?.match(/class="turn (?:user|assistant|call|tool)"/g)).toHaveLength(2)
})
