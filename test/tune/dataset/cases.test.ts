import { describe, expect, test } from 'vitest'
import { makeDataset } from '../../../tune/dataset/make-dataset.ts'
import { readCases } from '../../support/cases.ts'
import { caseSource, type DatasetCase } from './case-source.ts'

const cases = readCases('dataset') as DatasetCase[]

describe('the cases of test/cases/dataset', () => {
  test('are all there', () => expect(cases.length).toBeGreaterThanOrEqual(11))

  test.each(cases.map((given) => [given.why, given] as const))('%s', async (_, given) => {
    const rows: object[] = []
    const made = makeDataset(caseSource(given), { ...given.options, format: given.format }, async ({ row }) => {
      rows.push(row)
    })
    const { error, dropped, counted } = given.expect
    if (error !== undefined) {
      await expect(made).rejects.toThrow(
        new RegExp([error.reason, error.session, ...error.episodes].map((text) => `(?=.*${text})`).join('')),
      )
      expect(rows).toEqual([])
      return
    }
    const report = await made
    expect(rows).toEqual(given.expect.rows)
    expect(report.dropped).toEqual(dropped)
    if (counted !== undefined) expect(report.counted).toEqual(counted)
  })
})
