// The rollout service: the trainer asks over HTTP for a batch of rollouts, and gets one JSON line for each as it ends. On loopback, behind a key in its path.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import http from 'node:http'
import { errorText, HomegroundError, parseInput } from '@homeground/sdk/trace'
import { type PlayerOptions, type RolloutPlayer, refuseOtherSplits, rolloutPlayer } from './play-rollouts.ts'
import { type PlayedRollout, type PlayFailure, playRequestSchema } from './types.ts'

export interface RolloutService {
  /** With the key in its path. */
  url: string
  close(): Promise<void>
}

const mostBody = 8 * 2 ** 20

/** Resolves once it listens. */
export async function serveRollouts(options: PlayerOptions): Promise<RolloutService> {
  const player = rolloutPlayer(options)
  const key = randomBytes(16).toString('hex')
  const server = http.createServer((request, response) => {
    answer(request, response, { player, options, key }).catch((error: unknown) => {
      const failure = failureOf(error)
      if (response.headersSent) response.end(`${JSON.stringify(failure)}\n`)
      else reply(response, HomegroundError.is(error) ? 400 : 500, { error: failure })
    })
  })
  // A batch may take long, and says nothing until its first rollout has ended.
  server.requestTimeout = 0
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/${key}`,
    async close() {
      server.close()
      server.closeAllConnections()
      await player.close()
    },
  }
}

interface Parts {
  player: RolloutPlayer
  options: PlayerOptions
  key: string
}

async function answer(request: http.IncomingMessage, response: http.ServerResponse, { player, options, key }: Parts): Promise<void> {
  const [, given = '', route = ''] = (request.url ?? '').split('/')
  if (!isKey(given, key)) return reply(response, 404, { error: { failed: 'no such route', hint: 'start it through homeground tune grpo' } })
  if (request.method === 'GET' && route === 'environment') return reply(response, 200, player.played)
  if (request.method !== 'POST' || route !== 'rollouts') return reply(response, 404, { error: { failed: `no such route: ${route}` } })
  const asked = parseInput(playRequestSchema, await readJson(request), { place: 'POST /rollouts', what: 'a batch of rollouts (format 1)' })
  await refuseOtherSplits(
    options.environment,
    asked.rollouts.map(({ task }) => task),
  )
  const gone = new AbortController()
  response.once('close', () => gone.abort(new Error('the trainer has gone')))
  response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  response.flushHeaders()
  const tell = (rollout: PlayedRollout): void => {
    // Rollouts that were under way when another could not be played end after the answer has.
    if (!response.writableEnded) response.write(`${JSON.stringify(rollout)}\n`)
  }
  await player.play(asked, tell, gone.signal)
  response.end()
}

function isKey(given: string, key: string): boolean {
  return given.length === key.length && timingSafeEqual(Buffer.from(given), Buffer.from(key))
}

async function readJson(request: http.IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request) {
    size += piece.length
    if (size > mostBody) throw wrongBody(`more than ${mostBody} bytes`)
    pieces.push(piece)
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString('utf8'))
  } catch (cause) {
    throw wrongBody('what is not JSON', cause)
  }
}

function wrongBody(found: string, cause?: unknown): HomegroundError {
  return new HomegroundError('invalid-input', `POST /rollouts: expected a batch of rollouts, found ${found}`, {
    hint: 'use the trainer of the same version',
    ...(cause === undefined ? {} : { cause }),
  })
}

function failureOf(error: unknown): PlayFailure {
  if (HomegroundError.is(error)) return { failed: error.message, hint: error.hint }
  return { failed: errorText(error), hint: 'look at the lines above this one' }
}

function reply(response: http.ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
