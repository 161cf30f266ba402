// What the system says of files, as a person reads it. /dev/full is a disk without room.
import fs from 'node:fs'
import { JsonLinesWriter } from '@homeground/sdk/trace'
import { describe, expect, test } from 'vitest'
import { exitCodeOf } from '../../cli/output.ts'
import { systemError } from '../../cli/system-error.ts'

async function thrownBy(work: () => unknown): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

describe('what the system says of a file', () => {
  test.skipIf(!fs.existsSync('/dev/full'))('a full disk is named with its file, and is no fault of ours', async () => {
    const writer = await JsonLinesWriter.open('/dev/full', { append: true })
    const error = await thrownBy(() => writer.write({ rollout: 1 }))
    await writer.abort()
    expect(systemError(error)).toMatchObject({ code: 'disk-full', message: '/dev/full cannot be used (write): the disk is full' })
    expect(exitCodeOf(error)).toBe(3)
  })

  test.each([
    ['a file in the middle of a path', () => fs.mkdirSync('package.json/x'), 'invalid-argument', 'package.json/x'],
    ['a folder where a file is read', () => fs.readFileSync('test'), 'invalid-argument', 'a file'],
    ['a folder in place of a file', () => fs.writeFileSync('test', ''), 'invalid-argument', 'test'],
    ['what is not there', () => fs.readFileSync('nowhere/x'), 'not-found', 'nowhere/x'],
  ])('%s is told with its place, exit 2', async (_, work, code, place) => {
    const error = await thrownBy(work)
    expect(systemError(error)).toMatchObject({ code, message: expect.stringContaining(`${place} cannot be used`) })
    expect(exitCodeOf(error)).toBe(2)
  })

  test('anything else stays a fault of our own', () => {
    expect(systemError(new TypeError('x is not a function'))).toBeUndefined()
    expect(systemError(Object.assign(new Error('a vendor’s'), { code: 'ENOENT' }))).toBeUndefined()
    expect(exitCodeOf(new TypeError('x is not a function'))).toBe(3)
  })
})
