// What looks like an answer and is none is refused: an empty project, half a trace id, a folder where a file is meant, a folder that the kernel makes nobody.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { homegroundCommand } from '../support/command.ts'
import { engineIsMissing } from '../support/engine.ts'

describe('wrong places and names', { timeout: 60_000 }, () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-wrong-'))

  test.each([
    ['a key for no project', ['keys', 'create', 'shop', '--project', '', '--folder', folder], '--project is empty'],
    ['half a trace id', ['erase', '--project', 'p', '--trace', '0af765', '--yes', '--folder', folder], '--trace 0af765 is no trace id'],
    [
      'a folder that is no backup',
      ['restore', folder, '--folder', path.join(folder, 'new')],
      `${folder} cannot be restored: it is no backup`,
    ],
  ])('%s', async (_title, args, message) => {
    const { code, stdout, stderr } = await homegroundCommand(args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(`error: ${message}`)
    expect(fs.readdirSync(folder)).toEqual([])
  })

  test.skipIf(engineIsMissing || process.platform !== 'linux')('a folder in /proc is unwritable, not full', async () => {
    const { code, stderr } = await homegroundCommand(['up', '--folder', '/proc/x', '--port', '0'])
    expect(code).toBe(2)
    expect(stderr).toContain('docs/errors.md#folder-unwritable')
  })
})
