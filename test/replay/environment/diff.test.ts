import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Episode } from '@homeground/sdk/trace'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type BuildOptions, buildEnvironment } from '../../../replay/environment/build.ts'
import { diffEnvironments, type EnvironmentDifference } from '../../../replay/environment/diff.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import { airlineEpisodes } from '../support/episodes.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-diff-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

async function build(name: string, episodes: Episode[], more: Partial<BuildOptions> = {}): Promise<void> {
  const harness = { kind: 'loop', maxSteps: 50 } as const
  await buildEnvironment(episodes, { name, folder: path.join(folder, name), homeground: '0.1.0', harness, ...more })
}

async function difference(): Promise<EnvironmentDifference> {
  const [a, b] = await Promise.all([openEnvironment(path.join(folder, 'a')), openEnvironment(path.join(folder, 'b'))])
  try {
    return await diffEnvironments(a, b)
  } finally {
    await Promise.all([a.close(), b.close()])
  }
}

const none = { added: [], removed: [], changed: [] }

test('two builds of the same data differ in nothing, whatever they are called', async () => {
  const episodes = airlineEpisodes(6)
  await build('a', episodes)
  await build('b', episodes, { version: '2', licence: 'MIT' })
  const found = await difference()
  expect(found).toEqual({
    a: { name: 'a', version: '1', folder: path.join(folder, 'a'), hash: found.a.hash, tasks: 6 },
    b: { name: 'b', version: '2', folder: path.join(folder, 'b'), hash: found.a.hash, tasks: 6 },
    same: true,
    tasks: { unchanged: 6, added: [], removed: [], changed: [], moved: [] },
    rubric: none,
    tools: none,
    settings: [],
  })
})

test('names the tasks that were added, removed and changed, and what of them', async () => {
  const [one, two, three, four] = airlineEpisodes(4)
  if (!one || !two || !three || !four) throw new Error('no data')
  await build('a', [one, two, three])
  const other: Episode = { ...three, steps: three.steps.map((step) => (step.kind === 'tool' ? { ...step, durationMs: 99 } : step)) }
  await build('b', [{ ...two, tags: { plan: 'pro' } }, other, four])
  const { tasks, same } = await difference()
  expect({ tasks, same }).toEqual({
    tasks: {
      unchanged: 0,
      added: [four.id],
      removed: [one.id],
      changed: [
        { id: two.id, fields: ['tags'] },
        { id: three.id, fields: ['tape'] },
      ],
      moved: [],
    },
    same: false,
  })
})

test('names the tasks that moved to another split, with their sessions', async () => {
  const episodes = airlineEpisodes(8)
  await build('a', episodes)
  await build('b', episodes, { splits: { train: 0, validation: 0, test: 1 } })
  const { tasks, settings } = await difference()
  expect(tasks.changed).toEqual([])
  expect(tasks.unchanged + tasks.moved.length).toBe(8)
  expect(tasks.moved.length).toBeGreaterThan(0)
  for (const { session, from, to } of tasks.moved) {
    expect({ session: /^tau-airline-/.test(session), moved: from !== to, to }).toEqual({ session: true, moved: true, to: 'test' })
  }
  expect(settings).toEqual([
    { field: 'splits', from: { train: 0.6, validation: 0.2, test: 0.2 }, to: { train: 0, validation: 0, test: 1 } },
  ])
})

test('names criteria, tools and settings that changed, by field', async () => {
  const episodes = airlineEpisodes(2)
  const rubric = (max: number, more: object[] = []): Partial<BuildOptions> => ({
    rubric: { criteria: [{ name: 'steps', weight: 1, type: 'steps', max }, ...more] } as NonNullable<BuildOptions['rubric']>,
  })
  await build('a', episodes, {
    ...rubric(5, [{ name: 'cheap', weight: 0, type: 'cost', max: 1 }]),
    tools: { book_reservation: { mode: 'tape' } },
  })
  await build('b', episodes, {
    ...rubric(9, [{ name: 'quick', weight: 0, type: 'latency', max: 10 }]),
    tools: { book_reservation: { mode: 'mock', mock: 'mocks.mjs#book' }, extra: {} },
    harness: { kind: 'loop', maxSteps: 7 },
  })
  const { rubric: criteria, tools, settings } = await difference()
  expect({ criteria, tools, settings }).toEqual({
    criteria: { added: ['quick'], removed: ['cheap'], changed: [{ name: 'steps', field: 'max', from: 5, to: 9 }] },
    tools: {
      added: ['extra'],
      removed: [],
      changed: [
        { name: 'book_reservation', field: 'mode', from: 'tape', to: 'mock' },
        { name: 'book_reservation', field: 'mock', from: null, to: 'mocks.mjs#book' },
      ],
    },
    settings: [{ field: 'harness', from: { kind: 'loop', maxSteps: 50 }, to: { kind: 'loop', maxSteps: 7 } }],
  })
})
