import { describe, expect, it } from 'vitest'
import { undelivered } from '../../../sdk/run/silence.ts'
import { noStats } from '../../../sdk/run/stats.ts'

const collector = { endpoint: 'http://c', spool: (): string | undefined => undefined }

describe('what a product is told of spans when it ends', () => {
  it.each<[string, Parameters<typeof undelivered>[0], RegExp]>([
    ['nothing where all arrived', { stats: { ...noStats(), spans: 3, exported: 3 }, collector }, /^$/],
    [
      'who refused them',
      { stats: { ...noStats(), spans: 3, rejected: 2 }, collector },
      /^homeground: 2 of 3 spans are lost: the collector at http:\/\/c refused them\./,
    ],
    [
      'that nobody waited',
      { stats: { ...noStats(), spans: 3, queuedSpans: 3 }, collector },
      /^homeground: 3 of 3 spans are lost: the process was ended before/,
    ],
    [
      'nothing where they wait on disk',
      { stats: { ...noStats(), spans: 3, queuedSpans: 3 }, collector: { ...collector, spool: () => '/s' } },
      /^$/,
    ],
    [
      'who was away',
      { stats: { ...noStats(), spans: 3, queuedSpans: 3, exportErrors: 1 }, collector },
      /^homeground: 3 of 3 spans are lost: the collector at http:\/\/c did not take them\./,
    ],
    [
      'how many wait on disk, with those of earlier processes, and how many found no room there',
      {
        stats: { ...noStats(), spans: 3, queuedSpans: 12, dropped: 1, exportErrors: 1 },
        collector: { ...collector, spool: () => '/s' },
      },
      /^homeground: 12 spans wait in \/s for the next start, 1 of 3 spans are lost: the collector at http:\/\/c did not take them\..*\n$/,
    ],
    [
      'how many wait on disk, where all found room',
      {
        stats: { ...noStats(), spans: 3, queuedSpans: 12, exportErrors: 1 },
        collector: { ...collector, spool: () => '/s' },
      },
      /^homeground: 12 spans wait in \/s for the next start: the collector at http:\/\/c did not take them\..*\n$/,
    ],
    [
      'what feedback is lost, that waits and that was dropped',
      { stats: { ...noStats(), queuedFeedback: 1, droppedFeedback: 2 }, collector },
      /^homeground: 3 feedback is lost: the collector at http:\/\/c did not get it\..*\n$/,
    ],
    ['nothing where it has an exporter of its own', { stats: { ...noStats(), spans: 3, rejected: 3 } }, /^$/],
  ])('%s', (_, given, said) => {
    expect(undelivered(given)).toMatch(said)
  })
})
