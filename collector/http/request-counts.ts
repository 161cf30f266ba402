// What the collector has answered since its start, for /metrics: an operator sees refusals before a product's owner does.
import type { Request, Response } from 'express'
import type { Metric } from './metrics.ts'

const counted: readonly string[] = ['/v1/traces', '/v1/logs', '/v1/feedback', '/v1/episodes']

export class RequestCounts {
  /** By path and status. */
  private readonly answers = new Map<string, { path: string; status: string; count: number }>()
  private spans = 0
  private rejected = 0

  /** Counts the answer when it is out. Paths that are none of ours are one: a scanner would make a series of each. */
  watch(request: Request, response: Response): void {
    const path = counted.includes(request.path) ? request.path : 'other'
    response.once('finish', () => {
      const status = String(response.statusCode)
      const key = `${status} ${path}`
      const answer = this.answers.get(key) ?? { path, status, count: 0 }
      answer.count += 1
      this.answers.set(key, answer)
    })
  }

  /** Of one request, once its rows are durable. */
  took(spans: number, rejected: number): void {
    this.spans += spans
    this.rejected += rejected
  }

  metrics(): Metric[] {
    return [
      {
        name: 'homeground_http_requests_total',
        help: 'Requests answered, by path and status.',
        type: 'counter',
        samples: [...this.answers.values()].map(({ path, status, count }) => ({ labels: { path, status }, value: count })),
      },
      { name: 'homeground_spans_acknowledged_total', help: 'Spans made durable.', type: 'counter', samples: [{ value: this.spans }] },
      {
        name: 'homeground_spans_rejected_total',
        help: 'Spans refused one by one in requests that were taken.',
        type: 'counter',
        samples: [{ value: this.rejected }],
      },
    ]
  }
}
