import { expect, test } from 'vitest'
import { table } from '../../cli/terminal.ts'

test('a table of more lines than a call may have arguments is as wide as its widest cell', () => {
  const lines = table(
    ['trace', 'calls'],
    Array.from({ length: 200_000 }, (_, n) => [String(n), '1']),
  ).split('\n')
  expect([lines.length, lines[0], lines[1], lines[200_000]]).toEqual([200_002, 'trace   calls', '0       1', '199999  1'])
})
