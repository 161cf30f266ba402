// A worker on a channel that the test plays: values come and are taken back when the test says so.
import { expect, test } from 'vitest'
import type { Played } from '../../../replay/run/local-player.ts'
import { type Job, readReport, writeJob } from '../../../replay/work/messages.ts'
import { startWorker } from '../../../replay/work/worker.ts'
import { episodeOf, text } from '../support/episodes.ts'

type Handle = (value: Buffer, signal: AbortSignal) => Promise<void>

/** One worker that plays one rollout at a time; `end` ends the one that is being played. */
async function startOne() {
  const reported: number[] = []
  const playing: { index: number; end: () => void }[] = []
  let handle: Handle = () => Promise.reject(new Error('nobody receives'))
  const worker = await startWorker({
    topics: { jobs: 'jobs', results: 'results', group: 'workers' },
    name: 'w',
    concurrency: 1,
    channel: {
      partitions: async () => 4,
      members: async () => 1,
      forget: async () => {},
      send: async (_topic, { value }) => {
        const report = readReport(value)
        if (report.kind === 'rollout') reported.push(report.index)
      },
      receive: async (receiving) => {
        handle = (value, signal) => receiving.handle(value, signal)
        return { close: async () => {} }
      },
    },
    sites: {
      play: ({ index }) => new Promise<Played>((resolve) => playing.push({ index, end: () => resolve(played(index)) })),
      close: async () => {},
    },
  })
  return { worker, reported, playing, hand: (job: Job, signal: AbortSignal) => handle(writeJob(job), signal) }
}

test('a rollout that was taken back while it waited does not keep the one behind it from its turn', async () => {
  const { worker, reported, playing, hand } = await startOne()
  const stays = new AbortController().signal
  const leaves = new AbortController()
  const first = hand(jobOf(0), stays)
  const taken = hand(jobOf(1), leaves.signal)
  const last = hand(jobOf(2), stays)
  await settled()
  leaves.abort()
  await taken
  playing[0]?.end()
  await first
  await settled()
  playing[1]?.end()
  await last
  expect({ played: playing.map(({ index }) => index), reported }).toEqual({ played: [0, 2], reported: [0, 2] })
  await worker.close()
})

const settled = () => new Promise((resolve) => setImmediate(resolve))

function jobOf(index: number): Job {
  return {
    format: 1,
    run: 'r',
    handOut: 'h',
    index,
    environment: { name: 'e', folder: '/e', hash: 'x' },
    harness: { kind: 'loop', maxSteps: 2 },
    seed: 0,
    allowLive: [],
    task: 't',
    arm: { name: 'a', model: 'recorded' },
    repeat: 0,
  }
}

function played(index: number): Played {
  const episode = episodeOf(`e${index}`, [text('user', 'Hello'), text('assistant', 'Hi')])
  const rollout: Played['rollout'] = {
    task: 't',
    session: 's',
    arm: 'a',
    repeat: 0,
    scores: {},
    score: 1,
    offTape: { count: 0 },
    usage: { inputTokens: 0, outputTokens: 0 },
    durationMs: 1,
    stop: 'done',
    episode: episode.id,
  }
  return { rollout, episode }
}
