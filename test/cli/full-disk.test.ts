// Commands that write the store on a disk that is really full: which disk, what to do, nothing half written, and done when it is given again.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openStore } from '../../store/index.ts'
import { homegroundCommand } from '../support/command.ts'
import { engineIsMissing } from '../support/engine.ts'
import { fill, smallDisk, unmount } from '../support/small-disk.ts'

const probe = engineIsMissing ? undefined : smallDisk(1)
if (probe !== undefined) unmount(probe)

describe.skipIf(probe === undefined)('on a full disk', { timeout: 240_000 }, () => {
  let roomy = ''
  let small = ''
  /** About 16 MB that no codec makes small. */
  const file = (name: string) => path.join(roomy, name)

  beforeAll(() => {
    roomy = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-roomy-'))
    const line = (n: number) =>
      JSON.stringify({ id: n, messages: ['user', 'assistant'].map((role) => ({ role, content: randomBytes(20_000).toString('base64') })) })
    fs.writeFileSync(file('conversations.jsonl'), Array.from({ length: 400 }, (_, n) => line(n)).join('\n'))
  })
  afterAll(() => fs.rmSync(roomy, { recursive: true, force: true }))
  beforeEach(() => {
    small = smallDisk(48) ?? ''
  })
  afterEach(() => unmount(small))

  const importInto = (folder: string) =>
    homegroundCommand(['import', file('conversations.jsonl'), '--format', 'openai-messages', '--project', 'p', '--folder', folder])

  async function episodesIn(folder: string): Promise<number> {
    const store = await openStore({ folder, environment: {}, lingerMs: 0 })
    try {
      return (await store.counts())[0]?.episodes ?? 0
    } finally {
      await store.close({ stop: true })
    }
  }

  test('import says which disk is full; given again when there is room, it stores each episode once', async () => {
    const folder = path.join(small, 'store')
    await episodesIn(folder)
    const filler = fill(small, 12)
    const full = await importInto(folder)
    expect([full.code, full.stdout]).toEqual([3, ''])
    expect(full.stderr).toContain(`error: no room is left on the disk of ${path.join(folder, 'engine')}: `)
    expect(full.stderr).toContain('hint: free some space there, then give the same command again')
    expect(full.stderr).toContain('docs/errors.md#disk-full')
    fs.rmSync(filler)
    expect(await importInto(folder)).toMatchObject({ code: 0, stderr: '' })
    expect(await episodesIn(folder)).toBe(400)
  })

  test('import into a new store says that the engine has no room, which the engine itself cannot say', async () => {
    fill(small)
    const { code, stderr } = await importInto(path.join(small, 'store'))
    expect(code).toBe(3)
    expect(stderr).toMatch(/^error: .*(no room is left on the disk of|the disk is full)/)
    expect(stderr).toContain(small)
    expect(stderr).toContain('docs/errors.md#disk-full')
  })

  test('backup where the store lies, and backup to another disk, leave nothing; a restore changes nothing', async () => {
    expect(await importInto(file('store'))).toMatchObject({ code: 0, stderr: '' })
    const backup = (to: string, folder: string) => homegroundCommand(['backup', to, '--folder', folder])
    expect(await backup(file('store.tar'), file('store'))).toMatchObject({ code: 0, stderr: '' })

    // To a full disk.
    const filler = fill(small, 4)
    const away = path.join(small, 'away.tar')
    const toFull = await backup(away, file('store'))
    expect([toFull.code, toFull.stdout]).toEqual([3, ''])
    expect(toFull.stderr).toContain(`error: ${away} cannot be written: no room is left on the disk of ${away}`)
    expect(toFull.stderr).toContain('hint: make room, or give a path on another disk')
    expect(fs.readdirSync(small)).toEqual(['filler'])
    expect(fs.readdirSync(file('store/engine/backups'))).toEqual([])

    // Into a full disk: no room for the file, then none for its rows.
    fs.rmSync(filler)
    for (const leaving of [6, 20]) {
      fill(small, leaving)
      const folder = path.join(small, 'restored')
      const restored = await homegroundCommand(['restore', file('store.tar'), '--folder', folder])
      expect([restored.code, restored.stdout]).toEqual([3, ''])
      expect(restored.stderr).toContain(`error: ${file('store.tar')} cannot be restored: no room is left on the disk of ${folder}/engine`)
      expect(restored.stderr).toContain('nothing was restored')
      expect(fs.existsSync(path.join(folder, 'engine'))).toBe(false)
      fs.rmSync(filler)
    }

    // Of a store on a full disk.
    const folder = path.join(small, 'store')
    expect(await importInto(folder)).toMatchObject({ code: 0, stderr: '' })
    for (const leaving of [0, 6]) {
      fill(small, leaving)
      const ofFull = await backup(file('again.tar'), folder)
      expect([ofFull.code, ofFull.stdout]).toEqual([3, ''])
      expect(ofFull.stderr).toContain(`error: ${file('again.tar')} cannot be made: no room is left on the disk of ${folder}/engine`)
      expect(ofFull.stderr).toContain('docs/errors.md#disk-full')
      expect(fs.existsSync(file('again.tar'))).toBe(false)
      expect(fs.readdirSync(path.join(folder, 'engine', 'backups'))).toEqual([])
      fs.rmSync(filler)
    }
    expect(await episodesIn(folder)).toBe(400)
  })
})
