// Every case of test/cases/otlp over real HTTP: what is sent, what is answered, what is stored and reads back.
import zlib from 'node:zlib'
import { BinaryReader } from '@bufbuild/protobuf/wire'
import { assembleEpisodes, jsonOrText, type ModelCall, type SpanRow } from '@homeground/sdk/trace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Store } from '../../store/index.ts'
import { readCases } from '../support/cases.ts'
import { collectorOn } from '../support/collector.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'

const answerSchema = z.looseObject({
  status: z.number(),
  contentType: z.string().optional(),
  rejectedSpans: z.number().optional(),
  rejectedLogRecords: z.number().optional(),
  maxRssGrowthMb: z.number().optional(),
})
const caseSchema = z.object({
  id: z.string(),
  why: z.string(),
  requests: z.array(
    z.looseObject({
      path: z.string(),
      headers: z.record(z.string(), z.string()),
      body: z.unknown().optional(),
      text: z.string().optional(),
      base64: z.string().optional(),
      gzip: z.boolean().optional(),
      expect: z.union([z.object({ anyOf: z.array(answerSchema) }), answerSchema]),
    }),
  ),
  expect: z.object({
    rows: z.array(z.record(z.string(), z.unknown())).default([]),
    rowCount: z.number().optional(),
    feedback: z.array(z.record(z.string(), z.unknown())).default([]),
    feedbackCount: z.number().optional(),
    episodes: z.array(z.record(z.string(), z.unknown())).default([]),
  }),
})

const cases = readCases('otlp').map((one) => caseSchema.parse(one))

describe.skipIf(engineIsMissing)('POST /v1/traces and /v1/logs', { timeout: 120_000 }, () => {
  const engine = useEngine()

  test.for(cases.map((one) => [one.why, one] as const))('%s', async ([, one]) => {
    const database = one.id.replaceAll('-', '_')
    const store = await engine.openStore(database)
    const collector = await collectorOn(store)
    try {
      for (const request of one.requests) {
        const body = new Uint8Array(bodyOf(request))
        const before = process.memoryUsage().rss
        const answer = await answerOf(await fetch(collector.url + request.path, { method: 'POST', headers: headersOf(request), body }))
        const grownMb = (process.memoryUsage().rss - before) / 2 ** 20
        const allowed = 'anyOf' in request.expect && Array.isArray(request.expect.anyOf) ? request.expect.anyOf : [request.expect]
        expect(
          allowed.map((wanted) => answerSchema.parse(wanted)).some((wanted) => wanted.status === answer.status),
          `${request.path} answered ${answer.status}`,
        ).toBe(true)
        if (allowed.length !== 1) continue
        const wanted = answerSchema.parse(allowed[0])
        expect(answer).toMatchObject(known(wanted))
        expect(grownMb).toBeLessThan(wanted.maxRssGrowthMb ?? Number.POSITIVE_INFINITY)
      }
    } finally {
      await collector.close()
    }
    await checkStored(store, one.expect)
    const counted = await Promise.all(['spans', 'feedback'].map((table) => engine.sql(`SELECT count() FROM ${table} FINAL`, database)))
    const { rowCount: spans = Number(counted[0]), feedbackCount: feedback = Number(counted[1]) } = one.expect
    expect({ spans: Number(counted[0]), feedback: Number(counted[1]) }).toEqual({ spans, feedback })
  })
})

async function checkStored(store: Store, wanted: z.infer<typeof caseSchema>['expect']): Promise<void> {
  const projects = (await store.projects()).map(({ project }) => project)
  const traceIds = [...wanted.rows, ...wanted.episodes, ...wanted.feedback].map((row) =>
    String(row['traceId'] ?? row['trace'] ?? row['id']),
  )
  const rows = (await Promise.all(projects.map((project) => store.spans(project, traceIds)))).flat()
  for (const row of wanted.rows) {
    const found = rows.find(({ traceId, spanId }) => traceId === row['traceId'] && spanId === row['spanId'])
    expect(found, `row ${String(row['traceId'])} ${String(row['spanId'])}`).toBeDefined()
    if (found === undefined) continue
    const { absent, durationMs, ...fields } = row
    const seen = fieldsOf(found)
    expect(seen).toMatchObject(fields)
    if (durationMs !== undefined) expect(Math.abs(Number(seen['durationMs']) - Number(durationMs))).toBeLessThanOrEqual(0.001)
    for (const name of Array.isArray(absent) ? absent : []) expect(seen[String(name)], String(name)).toBeUndefined()
  }
  const feedback = (await Promise.all(projects.map((project) => store.feedback(project, traceIds)))).flat()
  for (const one of wanted.feedback) expect(feedback).toContainEqual(expect.objectContaining(one))
  const episodes = assembleEpisodes(rows, feedback)
  for (const one of wanted.episodes) {
    const { stepCount, steps, traceId, ...fields } = one
    const found = episodes.find((episode) => episode.trace === (traceId ?? one['trace'] ?? one['id']))
    expect(found).toMatchObject(fields)
    if (steps !== undefined) expect(found?.steps).toMatchObject(z.array(z.unknown()).parse(steps))
    if (stepCount !== undefined) expect(found?.steps.length).toBe(stepCount)
  }
}

/** A row under the names of the cases; what is empty is absent. */
function fieldsOf(row: SpanRow): Record<string, unknown> {
  const episode = assembleEpisodes([{ ...row, parentSpanId: '' }], [])[0]
  const call = episode?.steps.find((step): step is ModelCall => step.kind === 'model')
  const filled = Object.fromEntries(
    Object.entries(row).filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0)),
  )
  return {
    ...filled,
    startTimeUnixNano: String(row.startTimeUnixNano),
    endTimeUnixNano: String(row.endTimeUnixNano),
    startedAt: new Date(Number(row.startTimeUnixNano / 1_000_000n)).toISOString(),
    durationMs: Number(row.endTimeUnixNano - row.startTimeUnixNano) / 1e6,
    ...(row.arguments === '' ? {} : { arguments: jsonOrText(row.arguments) }),
    ...(row.result === '' ? {} : { result: jsonOrText(row.result) }),
    ...(row.input === '' ? {} : { input: jsonOrText(row.input) }),
    ...(row.output === '' ? {} : { output: jsonOrText(row.output) }),
    ...(call === undefined ? {} : { inputMessages: call.request.messages, tools: call.request.tools, outputs: call.response?.outputs }),
  }
}

function known(answer: z.infer<typeof answerSchema>): object {
  const { status, contentType, rejectedSpans, rejectedLogRecords } = answer
  return Object.fromEntries(
    Object.entries({ status, contentType, rejectedSpans, rejectedLogRecords }).filter(([, value]) => value !== undefined),
  )
}

async function answerOf(
  response: Response,
): Promise<{ status: number; contentType: string; rejectedSpans: number; rejectedLogRecords: number }> {
  const contentType = response.headers.get('content-type')?.split(';')[0] ?? ''
  const bytes = new Uint8Array(await response.arrayBuffer())
  let rejected = 0
  if (contentType === 'application/json') {
    const partial = z
      .looseObject({
        partialSuccess: z.looseObject({ rejectedSpans: z.string().optional(), rejectedLogRecords: z.string().optional() }).optional(),
      })
      .parse(JSON.parse(Buffer.from(bytes).toString() || '{}')).partialSuccess
    rejected = Number(partial?.rejectedSpans ?? partial?.rejectedLogRecords ?? 0)
  } else if (response.status === 200 && bytes.length > 0) {
    const reader = new BinaryReader(bytes)
    reader.tag()
    reader.uint32()
    reader.tag()
    rejected = Number(reader.int64())
  }
  return { status: response.status, contentType, rejectedSpans: rejected, rejectedLogRecords: rejected }
}

type CaseRequest = z.infer<typeof caseSchema>['requests'][number]

function headersOf(request: CaseRequest): Record<string, string> {
  return request.gzip === true ? { ...request.headers, 'content-encoding': 'gzip' } : request.headers
}

function bodyOf(request: CaseRequest): Buffer {
  const plain =
    request.base64 !== undefined ? Buffer.from(request.base64, 'base64') : Buffer.from(request.text ?? JSON.stringify(request.body))
  return request.gzip === true ? zlib.gzipSync(plain) : plain
}
