import { describe, expect, test } from 'vitest'
import { homegroundCommand } from '../support/command.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'

describe.skipIf(engineIsMissing)('homeground retention', { timeout: 120_000 }, () => {
  const engine = useEngine()
  const retention = async (...args: string[]) => {
    const { code, stdout, stderr } = await homegroundCommand(['retention', ...args], { HOMEGROUND_FOLDER: engine.folder })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return stdout
  }

  test('sets, lists and takes back a rule, and answers in JSON where it is asked to', async () => {
    expect(await retention('list')).toBe('everything is kept\n')
    expect(await retention('set', 'shop', '90')).toBe('shop: rows are kept for 90 days\n')
    expect(JSON.parse(await retention('set', 'shop', '30', '--json'))).toEqual({ project: 'shop', days: 30 })
    expect(await retention('list')).toBe('project  days\nshop     30\n')
    expect(JSON.parse(await retention('list', '--json'))).toEqual([{ project: 'shop', days: 30 }])
    expect(JSON.parse(await retention('unset', 'shop', '--json'))).toEqual({ project: 'shop', days: null })
    expect(JSON.parse(await retention('list', '--json'))).toEqual([])
  })
})
