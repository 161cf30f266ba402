import fs from 'node:fs'
import { describe, expect, test } from 'vitest'
import { makeDataset } from '../../../tune/dataset/make-dataset.ts'
import { caseSource, type DatasetCase } from './case-source.ts'

const folder = new URL('../../cases/dataset/', import.meta.url)
const cases: DatasetCase[] = fs.readdirSync(folder).map((name) => JSON.parse(fs.readFileSync(new URL(name, folder), 'utf8')))

describe('the cases of test/cases/dataset', () => {
  test('are all there', () => expect(cases.length).toBe(11))

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
