import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CodeGraders } from '../../../replay/rubric/code-grader.ts'
import { until } from '../../support/until.ts'
import { sampleEpisode, sampleTask } from './sample.ts'

let folder: string
let graders: CodeGraders
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'code-'))
  fs.writeFileSync(
    path.join(folder, 'graders.mjs'),
    `import fs from 'node:fs'
     export const good = async (episode, task, tools) => ({ value: episode.output === 'yes' && task.id === 't1' && tools.look.effect === 'read', reason: 'looked' })
     export const half = () => 0.5
     export const none = () => undefined
     export const loud = () => 'very good'
     export const large = () => 7
     export const throws = () => { throw new Error('no such field') }
     export const loops = () => { for (;;); }
     export const dies = () => process.exit(3)
     export const later = () => { setTimeout(() => { throw new Error('too late') }); return 1 }
     process.on('exit', () => fs.writeFileSync(new URL('ended', import.meta.url), ''))
     export default () => 1`,
  )
  graders = new CodeGraders(folder)
})
afterAll(async () => {
  await graders.close()
  fs.rmSync(folder, { recursive: true })
})

const grade = (code: string, timeoutMs = 5000) =>
  graders.grade(
    { name: 'mine', type: 'code', weight: 2, code, timeoutMs },
    { episode: sampleEpisode({ output: 'yes' }), task: sampleTask(), tools: { look: { effect: 'read', mode: 'tape', onMiss: 'error' } } },
  )

test.each([
  ['graders.mjs#good', { value: 1, weight: 2, reason: 'looked' }],
  ['graders.mjs#half', { value: 0.5, weight: 2, reason: 'graders.mjs#half' }],
  ['graders.mjs', { value: 1, weight: 2, reason: 'graders.mjs' }],
  ['graders.mjs#none', { value: null, weight: 2, reason: 'graders.mjs#none gave no score' }],
  ['graders.mjs#loud', { value: null, weight: 2, reason: 'graders.mjs#loud answered neither a number nor { value, reason }: "very good"' }],
  ['graders.mjs#large', { value: null, weight: 2, reason: 'graders.mjs#large answered 7, which is not in [0, 1]' }],
  ['graders.mjs#throws', { value: null, weight: 2, reason: 'graders.mjs#throws threw: no such field' }],
  ['graders.mjs#dies', { value: null, weight: 2, reason: 'graders.mjs#dies threw: its thread ended with 3' }],
])('%s', async (code, score) => {
  expect(await grade(code)).toEqual(score)
})

test('a grader that never ends is ended, has no score, and the next one works', async () => {
  expect(await grade('graders.mjs#loops', 300)).toEqual({
    value: null,
    weight: 2,
    reason: 'graders.mjs#loops did not answer within 300 ms',
  })
  expect((await grade('graders.mjs#half')).value).toBe(0.5)
})

test('one that crashes after it has answered costs the next its thread, not its score', async () => {
  const ended = path.join(folder, 'ended')
  fs.rmSync(ended, { force: true })
  expect((await grade('graders.mjs#later')).value).toBe(1)
  await until(
    () => fs.existsSync(ended),
    () => 'its thread goes on',
  )
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(await grade('graders.mjs#half', 2_000)).toMatchObject({ value: 0.5 })
})

test('many at once are answered each with its own', async () => {
  const codes = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? 'graders.mjs#half' : 'graders.mjs#good'))
  expect((await Promise.all(codes.map((code) => grade(code)))).map(({ value }) => value)).toEqual(
    codes.map((_, at) => (at % 2 === 0 ? 0.5 : 1)),
  )
})

test.each(['nowhere.mjs#f', 'graders.mjs#missing'])('%s is a fault of the environment, named by criterion', async (code) => {
  await expect(grade(code)).rejects.toMatchObject({
    code: 'environment-invalid',
    message: expect.stringContaining(`criterion "mine": ${code}`),
  })
})
