import { expect, test, vi } from 'vitest'
import { homegroundFolder } from '../../cli/run-folder-option.ts'

test.each([
  [undefined, undefined, '.homeground'],
  [undefined, '', '.homeground'],
  [undefined, 'set', 'set'],
  ['given', 'set', 'given'],
])('the folder that was given as %s, with HOMEGROUND_FOLDER %j, is %s', (given, variable, folder) => {
  vi.stubEnv('HOMEGROUND_FOLDER', variable)
  expect(homegroundFolder(given)).toBe(folder)
  vi.unstubAllEnvs()
})
