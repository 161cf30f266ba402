// Rows of the 200 real episodes as those who take them check them: OpenAI's by a schema of its API reference, TRL's by TRL itself.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Episode, JsonLinesWriter, type Message } from '@homeground/sdk/trace'
import { Ajv, type ValidateFunction } from 'ajv'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importFiles, readTools } from '../../../store/import/index.ts'
import { makeDataset } from '../../../tune/dataset/make-dataset.ts'
import type { Candidate, DatasetReport } from '../../../tune/dataset/types.ts'
import type { FormatName } from '../../../tune/formats/index.ts'
import type { Row } from '../../../tune/formats/messages.ts'
import { pythonVariables } from '../../../tune/train/index.ts'
import { memoryStore } from '../../store/import/memory-store.ts'
import { projectRoot } from '../../support/project-files.ts'
import { python, pythonIsMissing } from '../../support/python.ts'
import { sourceOf } from '../dataset/case-source.ts'

let candidates: Candidate[]
let folder: string
beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-formats-'))
  const data = path.join(projectRoot, 'examples', 'data')
  const store = memoryStore()
  await importFiles(store, [path.join(data, 'tau-airline-gpt4o.jsonl.gz')], 'tau-bench', {
    project: 'airline',
    tools: await readTools(path.join(data, 'tau-airline-tools.json')),
  })
  candidates = store.assembled().map(candidateOf)
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

function candidateOf(episode: Episode): Candidate {
  const reward = episode.feedback.find(({ name }) => name === 'reward')?.value
  return { episode, task: episode.source.task ?? episode.id, session: episode.session, split: 'train', score: Number(reward) }
}

/** Each episode as a task of its own, and beside it the same one with another last word: what a replay of its recorded history gives. */
function twice(given: readonly Candidate[]): Candidate[] {
  return given.flatMap((candidate) => {
    const { steps, id } = candidate.episode
    const last = steps.findLastIndex((step) => step.kind === 'model')
    const worse = steps.map((step, index) =>
      index === last && step.kind === 'model' && step.response !== undefined
        ? { ...step, response: { ...step.response, outputs: [no] } }
        : step,
    )
    return [
      { ...candidate, task: id, score: 1 },
      { ...candidate, task: id, score: 0, episode: { ...candidate.episode, id: `${id}-worse`, steps: worse } },
    ]
  })
}

const no: Message = { role: 'assistant', parts: [{ type: 'text', content: 'No.' }] }

async function rowsOf(
  format: FormatName,
  options: object = {},
  from: readonly Candidate[] = format.endsWith('dpo') ? twice(candidates) : candidates,
): Promise<{ rows: Row[]; report: DatasetReport }> {
  const rows: Row[] = []
  const report = await makeDataset(sourceOf(from), { format, ...options }, async ({ row }) => void rows.push(row))
  return { rows, report }
}

describe('rows of real episodes for OpenAI', () => {
  it.each<FormatName>(['openai-sft', 'openai-dpo'])(
    '%s passes the schema, and each call is answered once before the next turn',
    async (format) => {
      const valid = schema(format)
      const { rows } = await rowsOf(format)
      expect(rows.length).toBeGreaterThan(150)
      for (const row of rows) {
        expect(valid(row), `${JSON.stringify(valid.errors)}\n${JSON.stringify(row).slice(0, 500)}`).toBe(true)
        expect(unanswered(format === 'openai-sft' ? row['messages'] : (row['input'] as Row)['messages'])).toEqual([])
      }
    },
  )

  it('refuses what the schema is there to refuse', () => {
    const valid = schema('openai-sft')
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: {} } }
    expect(valid({ messages: [{ role: 'assistant', tool_calls: [call] }] })).toBe(false)
    expect(valid({ messages: [{ role: 'assistant', content: '' }] })).toBe(false)
    expect(valid({ messages: [{ role: 'user', content: 'Hi' }] })).toBe(false)
    expect(valid({ messages: [{ role: 'assistant', content: 'Hi', reasoning_content: 'x' }] })).toBe(false)
  })
})

describe('preference pairs of real episodes', () => {
  it('are none where the simulated user said something else to each attempt', async () => {
    const { rows, report } = await rowsOf('trl-dpo', {}, candidates)
    expect(rows).toEqual([])
    expect(Object.keys(report.dropped).sort()).toEqual(['environment-diverged', 'tie'])
  })

  it('part at the first turn that differs', async () => {
    const { rows } = await rowsOf('trl-dpo')
    expect(rows.length).toBeGreaterThan(150)
    for (const { rejected } of rows) expect(rejected).toEqual([{ role: 'assistant', content: 'No.' }])
  })
})

describe.skipIf(pythonIsMissing)('rows of real episodes for TRL', () => {
  it('are loaded, tokenised and trained on for a step by TRL’s own trainers', { timeout: 900_000 }, async () => {
    const texts = path.join(folder, 'texts.txt')
    fs.writeFileSync(texts, JSON.stringify((await rowsOf('openai-sft')).rows.slice(0, 20)))
    for (const format of ['trl-sft', 'trl-dpo', 'trl-kto'] as const) {
      const writer = await JsonLinesWriter.open(path.join(folder, `${format}.jsonl`))
      // The shortest: these are some thousand tokens each for a tokenizer of a thousand words.
      const rows = (await rowsOf(format)).rows.sort((one, other) => JSON.stringify(one).length - JSON.stringify(other).length)
      for (const row of rows.slice(0, 12)) await writer.write(row)
      await writer.close()
    }
    const script = path.join(import.meta.dirname, 'load-with-trl.py')
    const ended = spawnSync(python, [script, folder], { env: pythonVariables(), encoding: 'utf8' })
    expect(ended.status, ended.stderr.slice(-4000)).toBe(0)
    const told = JSON.parse(ended.stdout.trim().split('\n').at(-1) ?? '{}') as Record<string, { rows: number; loss: number }>
    for (const format of ['trl-sft', 'trl-dpo', 'trl-kto']) {
      expect(told[format]?.rows, format).toBe(12)
      expect(told[format]?.loss, format).toBeGreaterThan(0)
    }
  })
})

function schema(format: FormatName): ValidateFunction {
  const file = path.join(import.meta.dirname, `${format}.schema.json`)
  return new Ajv({ allErrors: true, strict: false }).compile(JSON.parse(fs.readFileSync(file, 'utf8')))
}

/** Ids of calls without a result before the next message that is none. */
function unanswered(messages: unknown): string[] {
  const open = new Set<string>()
  const missing: string[] = []
  for (const message of messages as { role: string; tool_call_id?: string; tool_calls?: { id: string }[] }[]) {
    if (message.role === 'tool') open.delete(message.tool_call_id ?? '')
    else {
      missing.push(...open)
      open.clear()
    }
    for (const { id } of message.tool_calls ?? []) open.add(id)
  }
  return missing
}
