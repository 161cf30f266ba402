import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { otlpJson } from '../../collector/ingest/otlp-json-file.ts'
import { importFiles } from '../../store/import/index.ts'
import { memoryStore } from '../store/import/memory-store.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'otlp-json-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

const trace = 'ab'.repeat(16)
const request = (spanId: string, name: string, parentSpanId?: string) => ({
  resourceSpans: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'kiosk' } }] },
      scopeSpans: [
        {
          spans: [
            {
              traceId: trace,
              spanId,
              ...(parentSpanId === undefined ? {} : { parentSpanId }),
              name,
              startTimeUnixNano: '1764600000000000001',
              endTimeUnixNano: '1764600001000000001',
              attributes: [{ key: 'gen_ai.operation.name', value: { stringValue: name } }],
            },
          ],
        },
      ],
    },
  ],
})

function put(name: string, text: string): string {
  const file = path.join(folder, name)
  fs.writeFileSync(file, text)
  return file
}

describe('import --format otlp-json', () => {
  test('takes a trace whose spans stand in several lines, children first, with exact times that are bare numbers', async () => {
    const lines = [request('0000000000000002', 'chat', '0000000000000001'), request('0000000000000001', 'invoke_agent')]
    const text = lines.map((line) => JSON.stringify(line).replace('"1764600000000000001"', '1764600000000000001')).join('\n')
    const store = memoryStore()
    const summary = await importFiles(store, [put('spans.jsonl', text)], 'otlp-json', { importers: [otlpJson] })
    expect(summary).toMatchObject({ episodes: 1, modelCalls: 1, projects: ['kiosk'] })
    expect([...store.rows.values()].map(({ startTimeUnixNano }) => startTimeUnixNano)).toEqual([1764600000000000001n, 1764600000000000001n])
    expect(store.assembled()).toMatchObject([{ project: 'kiosk', steps: [{ kind: 'model', parent: '0000000000000001' }] }])
  })

  test.each(['', '\ufeff'])('takes one request in a .json file, into the project asked for, behind %j', async (mark) => {
    const store = memoryStore()
    const text = mark + JSON.stringify(request('0000000000000001', 'invoke_agent'), null, 2)
    await importFiles(store, [put('one.json', text)], 'otlp-json', {
      importers: [otlpJson],
      project: 'other',
    })
    expect(store.assembled().map(({ project }) => project)).toEqual(['other'])
  })

  test.each([
    ['a line that is no request', '[]', ':2: not an export request'],
    ['a span without an id', JSON.stringify(request('', 'chat')), ':2: 1 refused: '],
  ])('stores nothing of a file with %s', async (_, line, fault) => {
    const file = put('broken.jsonl', `${JSON.stringify(request('0000000000000001', 'chat'))}\n${line}\n`)
    const store = memoryStore()
    await expect(importFiles(store, [file], 'otlp-json', { importers: [otlpJson] })).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringContaining(`${file}${fault}`),
    })
    expect(store.inserts).toBe(0)
  })
})
