// GET /metrics, read as Prometheus reads it.
import { expect, test } from 'vitest'
import { type Metric, metricsText } from '../../../collector/http/metrics.ts'
import { directQueue, startCollector } from '../../../collector/index.ts'
import { memoryLog } from '../../support/collector.ts'
import { memoryStore } from '../../support/kafka-queue.ts'
import { postTraces, protobufTraces } from '../../support/otlp.ts'
import { spanId, traceId } from '../../support/span-rows.ts'

const name = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const label = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"'
const sample = new RegExp(`^(${name})(?:\\{${label}(?:,${label})*\\})? (?:NaN|[+-]?(?:Inf|\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?))$`)

/** The names of the families, each once, with their type; throws at the first line that Prometheus would refuse. */
function families(text: string): Record<string, string> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  const found: Record<string, string> = {}
  let current = ''
  const seen = new Set<string>()
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, family, rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (kind === 'HELP' && family !== undefined) {
      if (Object.hasOwn(found, family)) throw new Error(`${family} stands twice`)
      current = family
    } else if (kind === 'TYPE') {
      if (family !== current || !['counter', 'gauge'].includes(rest)) throw new Error(line)
      found[current] = rest
    } else {
      if (sample.exec(line)?.[1] !== current) throw new Error(`no sample of ${current}: ${line}`)
      const series = line.slice(0, line.lastIndexOf(' '))
      if (seen.has(series)) throw new Error(`twice: ${series}`)
      seen.add(series)
    }
  }
  return found
}

test('/metrics is text that Prometheus reads: each family once, with its type, the queue’s among them', async () => {
  const queue = {
    ...directQueue(memoryStore()),
    metrics: async (): Promise<Metric[]> => [
      { name: 'homeground_lost_total', help: 'Rows.', type: 'counter', samples: [{ labels: { topic: 't' }, value: 0 }] },
    ],
  }
  const collector = await startCollector({ queue, log: memoryLog(), port: 0 })
  try {
    expect(
      (
        await postTraces(
          collector.url,
          protobufTraces([
            { traceId: traceId(1), spanId: spanId(1) },
            { traceId: '', spanId: spanId(2) },
          ]),
        )
      ).status,
    ).toBe(200)
    await postTraces(collector.url, Buffer.from('no protobuf'))
    await fetch(`${collector.url}/wp-admin.php`)
    const answer = await fetch(`${collector.url}/metrics`)
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    const text = await answer.text()
    expect(families(text)).toEqual({
      homeground_bytes_in_flight: 'gauge',
      homeground_http_requests_total: 'counter',
      homeground_spans_acknowledged_total: 'counter',
      homeground_spans_rejected_total: 'counter',
      homeground_lost_total: 'counter',
    })
    const own = text.split('\n').filter((line) => /^homeground_(http|spans)/.test(line))
    expect(own).toEqual([
      'homeground_http_requests_total{path="/v1/traces",status="200"} 1',
      'homeground_http_requests_total{path="/v1/traces",status="400"} 1',
      'homeground_http_requests_total{path="other",status="404"} 1',
      'homeground_spans_acknowledged_total 1',
      'homeground_spans_rejected_total 1',
    ])
  } finally {
    await collector.close()
  }
})

test('a label’s value may hold anything', () => {
  const text = metricsText([
    { name: 'homeground_x_total', help: 'x', type: 'counter', samples: [{ labels: { topic: 'a"b\\c\nd' }, value: 1e21 }] },
  ])
  expect(families(text)).toEqual({ homeground_x_total: 'counter' })
  expect(text).toContain('topic="a\\"b\\\\c\\nd"')
})
