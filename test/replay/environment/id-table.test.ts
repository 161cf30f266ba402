import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { IdTable } from '../../../replay/environment/id-table.ts'

describe('IdTable', () => {
  test('finds what a Map of the same ids finds, whatever their number and letters', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 6 }), { maxLength: 600 }), fc.string(), (ids, other) => {
        const table = new IdTable()
        const map = new Map<string, number>()
        for (const [position, id] of ids.entries()) {
          table.push(id)
          if (!map.has(id)) map.set(id, position)
        }
        expect([...table]).toEqual(ids)
        expect(table.hasDoubles).toBe(map.size < ids.length)
        for (const id of [...ids, other]) expect(table.indexOf(id)).toBe(map.get(id))
      }),
    )
  })

  test('is equal to a table of the same ids in the same order, and to no other', () => {
    const of = (...ids: string[]) => {
      const table = new IdTable()
      for (const id of ids) table.push(id)
      return table
    }
    expect(of('ab', 'c').equals(of('ab', 'c'))).toBe(true)
    expect(of('ab', 'c').equals(of('a', 'bc'))).toBe(false)
    expect(of('ab', 'c').equals(of('c', 'ab'))).toBe(false)
    expect(of('ab', 'c').equals(of('ab'))).toBe(false)
  })
})
