import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import { sealEnvironment } from '../../../replay/environment/seal.ts'
import { airlineEpisodes } from '../support/episodes.ts'

let folder: string
let built: string
beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-hash-'))
  fs.writeFileSync(path.join(folder, 'mocks.mjs'), 'export const book = () => "booked"')
  fs.writeFileSync(path.join(folder, 'graders.mjs'), 'export const kind = () => 1')
  fs.writeFileSync(path.join(folder, 'env.json'), '{}')
  const { file } = await buildEnvironment(airlineEpisodes(2), {
    name: 'air',
    folder,
    homeground: '0.1.0',
    harness: { kind: 'loop', maxSteps: 5 },
    tools: { book: { mode: 'mock', mock: 'mocks.mjs#book' } },
    rubric: { criteria: [{ name: 'kind', weight: 1, type: 'code', code: 'graders.mjs#kind', timeoutMs: 1_000 }] },
  })
  built = file.hash
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

type Settings = { [key: string]: unknown; tools: Record<string, object> }

function edit(change: (file: Settings) => object): void {
  const file = path.join(folder, 'env.json')
  fs.writeFileSync(file, JSON.stringify(change(JSON.parse(fs.readFileSync(file, 'utf8')))))
}

const refused = { code: 'environment-invalid', hint: expect.stringContaining('homeground env seal') }

describe("the environment's hash", () => {
  test.each<[string, (file: Settings) => object]>([
    ["a tool's mode", (file) => ({ ...file, tools: { ...file.tools, book: { mode: 'live' } } })],
    ["a tool's miss policy", (file) => ({ ...file, tools: { ...file.tools, book: { ...file.tools['book'], onMiss: 'fail' } } })],
    ['a tool more', (file) => ({ ...file, tools: { ...file.tools, more: {} } })],
    ['the simulator', (file) => ({ ...file, simulator: { model: 'm' } })],
    ['the user mode', (file) => ({ ...file, user: { mode: 'none' } })],
    ['the harness', (file) => ({ ...file, harness: { kind: 'loop', maxSteps: 6 } })],
  ])('covers %s: the folder does not open until it is sealed, under another hash', async (_, change) => {
    edit(change)
    await expect(openEnvironment(folder)).rejects.toMatchObject(refused)
    expect((await sealEnvironment(folder)).hash).not.toBe(built)
    await (await openEnvironment(folder)).close()
  })

  test.each(['mocks.mjs', 'graders.mjs'])('covers the code in %s', async (name) => {
    fs.appendFileSync(path.join(folder, name), '\n// changed')
    await expect(openEnvironment(folder)).rejects.toMatchObject(refused)
    expect((await sealEnvironment(folder)).hash).not.toBe(built)
  })

  test.each<[string, (file: Settings) => object]>([
    ['name and version', (file) => ({ ...file, name: 'other', version: '2' })],
    ['when and of what it was built', (file) => ({ ...file, built: { at: '', homeground: '9', query: { project: 'x' } } })],
    ['licence', (file) => ({ ...file, provenance: { ...(file['provenance'] as object), licence: 'MIT' } })],
    ['the order of members', (file) => Object.fromEntries(Object.entries(file).reverse())],
  ])('leaves out %s', async (_, change) => {
    edit(change)
    const environment = await openEnvironment(folder)
    await environment.close()
    expect(environment.file.hash).toBe(built)
  })
})
