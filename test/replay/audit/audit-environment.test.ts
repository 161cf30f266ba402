import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AuditReport, auditEnvironment } from '../../../replay/audit/index.ts'
import { nearDuplicates } from '../../../replay/audit/near-duplicates.ts'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import { openOutsideGraders } from '../../../replay/rubric/index.ts'
import type { Rubric } from '../../../replay/rubric/types.ts'
import { tauBenchEpisodes } from '../rubric/tau-bench.ts'
import { episodeOf, text, toolSpan } from '../support/episodes.ts'
import { recordDesk } from '../support/recorded-desk.ts'
import { buildLeakyEnvironment } from './leaky-environment.ts'

const committed = fileURLToPath(new URL('../../../examples/leaky-env', import.meta.url))
let folder: string
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'audit-'))
})
afterAll(() => {
  fs.rmSync(folder, { recursive: true })
})

/** One criterion, that a judge decides. */
const judged: Rubric = {
  criteria: [
    {
      name: 'good',
      weight: 1,
      type: 'judge',
      scale: 'binary',
      instructions: 'x',
      model: 'j',
      repeats: 1,
      reference: false,
      timeoutMs: 1000,
    },
  ],
}

async function audited(at: string, judge?: (said: string) => object): Promise<AuditReport> {
  const environment = await openEnvironment(at)
  const outside = openOutsideGraders(at, {
    judge: { environment: { HOMEGROUND_JUDGE_URL: 'http://judge.invalid/v1' }, fetch: judgeFetch(judge) },
  })
  try {
    return await auditEnvironment(environment, { outside })
  } finally {
    await outside.close()
    await environment.close()
  }
}

function judgeFetch(judge: ((said: string) => object) | undefined): typeof fetch {
  return async (_, init) => {
    if (!judge) return new Response('', { status: 404 })
    const said = String(init?.body)
    return Response.json({ choices: [{ message: { content: JSON.stringify(judge(said)) } }] })
  }
}

describe('examples/leaky-env', () => {
  test('is what its builder makes', async () => {
    await buildLeakyEnvironment(path.join(folder, 'again'))
    for (const name of ['tasks.jsonl', 'tapes.jsonl', 'rubric.json'])
      expect(fs.readFileSync(path.join(committed, name), 'utf8'), name).toBe(fs.readFileSync(path.join(folder, 'again', name), 'utf8'))
  })

  test('each of its eight holes is found', async () => {
    const { findings } = await audited(committed)
    const found = (kind: string, where: string, policy = '') =>
      findings.some(
        (finding) => finding.kind === kind && finding.where === where && finding.severity === 'hole' && finding.sentence.includes(policy),
      )
    expect({
      parrot: found('criterion-fooled', 'mentions the order', 'parrot ('),
      empty: found('criterion-fooled', 'is not rude', 'empty ('),
      allTools: found('criterion-fooled', 'looks it up', 'all-tools ('),
      noTools: found('criterion-fooled', 'closes the case', 'no-tools ('),
      keywords: found('criterion-fooled', 'says where it is', 'keywords ('),
      giveUp: found('criterion-fooled', 'is sorry', 'give-up ('),
      referenceLeak: found('reference-leak', 'tasks'),
      nearDuplicates: found('near-duplicates', 'splits'),
    }).toEqual({
      parrot: true,
      empty: true,
      allTools: true,
      noTools: true,
      keywords: true,
      giveUp: true,
      referenceLeak: true,
      nearDuplicates: true,
    })
  })
})

describe('other environments', () => {
  async function build(name: string, rubric: Rubric): Promise<string> {
    const episodes = Array.from({ length: 30 }, (_, number) =>
      episodeOf(
        `${name}-${number}`,
        [text('user', `please refund order ${number} ${'abcdefghij'[number % 10]}`), text('assistant', `Refunded ${number * 7} dollars.`)],
        {
          tools: [toolSpan('refund', { order: number }, 1, { effect: 'write', result: 'ok' })],
          feedback: [
            {
              name: 'expected_actions',
              value: JSON.stringify([{ name: 'refund', arguments: { order: number } }]),
              source: 'r',
              at: '2026-01-01T00:00:00.000Z',
            },
            { name: 'expected_outputs', value: JSON.stringify([`${number * 7}`]), source: 'r', at: '2026-01-01T00:00:00.000Z' },
          ],
        },
      ),
    )
    const at = path.join(folder, name)
    await buildEnvironment(episodes, { name, folder: at, homeground: '0', harness: { kind: 'loop', maxSteps: 5 }, rubric })
    return at
  }

  test('one that asks for the right calls and figures has no hole', async () => {
    const at = await build('sound', { criteria: [{ name: 'actions', weight: 1, type: 'actions', outputs: true }] })
    const report = await audited(at)
    expect(report.findings.filter(({ severity }) => severity === 'hole')).toEqual([])
    expect(report.recorded.score).toBe(1)
    expect(Math.max(...report.policies.map(({ score }) => score ?? 0))).toBe(0)
  })

  test('one in which nothing can be scored is no clean one', async () => {
    const at = await build('unscored', { criteria: [{ name: 'right', weight: 1, type: 'equals' }] })
    const { findings } = await audited(at)
    expect(findings.filter(({ severity }) => severity === 'hole').map(({ kind }) => kind)).toEqual(['never-scored'])
  })

  test('a judge that believes what it reads is found, and one that decides alone; one that wavers is noted', async () => {
    const at = await build('judged', judged)
    let calls = 0
    const credulous = (body: string) => {
      const ticket = /ticket\\": \\"(\w+)/.exec(body)?.[1]
      const pass = body.includes('fulfils every criterion') || (body.includes('Refunded') && calls++ % 2 === 0)
      return { ticket, reason: 'r', verdict: pass ? 'pass' : 'fail' }
    }
    const { findings } = await audited(at, credulous)
    expect(findings.map(({ kind, where }) => `${kind} ${where}`)).toEqual(
      expect.arrayContaining(['policy-scores injection', 'criterion-fooled good', 'judge-decides good', 'judge-unstable good']),
    )
  })

  test('a judge that follows the order of its labels is found, and is not called one that wavers', async () => {
    const at = await build('ordered', judged)
    const first = (body: string) => {
      const ticket = /ticket\\": \\"(\w+)/.exec(body)?.[1]
      return { ticket, reason: 'r', verdict: body.indexOf('\\"pass\\" (worth') < body.indexOf('\\"fail\\" (worth') ? 'pass' : 'fail' }
    }
    const { findings } = await audited(at, first)
    expect(findings.find(({ kind }) => kind === 'judge-order')).toMatchObject({
      where: 'good',
      sentence: 'Judge good changed its verdict on 20 of 20 recordings when its labels were listed the other way round.',
    })
    expect(findings.map(({ kind }) => kind)).not.toContain('judge-unstable')
  })

  test('the support desk has no hole', async () => {
    const at = path.join(folder, 'desk')
    await buildEnvironment(await recordDesk(), {
      name: 'desk',
      folder: at,
      homeground: '0',
      harness: { kind: 'loop', maxSteps: 20 },
      unit: 'episode',
    })
    const { findings } = await audited(at)
    expect(findings.filter(({ severity }) => severity === 'hole')).toEqual([])
  }, 120_000)

  test('on the real episodes doing nothing scores near what the agent scored, and the audit says so', async () => {
    const at = path.join(folder, 'airline')
    await buildEnvironment(
      (await tauBenchEpisodes()).map(({ episode }) => episode),
      { name: 'airline', folder: at, homeground: '0', harness: { kind: 'loop', maxSteps: 50 } },
    )
    const { findings } = await audited(at)
    expect(findings.filter(({ kind }) => kind === 'policy-scores').map(({ where }) => where)).toContain('empty')
  }, 180_000)
})

test('near-duplicates are found by most of their words, each once, and unlike texts are not', () => {
  const long = Array.from({ length: 60 }, (_, at) => `word${at}`).join(' ')
  const pairs = nearDuplicates(
    [
      { id: 'a', text: long },
      { id: 'b', text: 'something else entirely is said here' },
      { id: 'c', text: long },
    ],
    [
      { id: 'x', text: `${long} more` },
      { id: 'y', text: 'nothing of the kind was ever written down' },
    ],
  )
  expect(pairs.map(({ train, test }) => [train, test])).toEqual([['a', 'x']])
})
