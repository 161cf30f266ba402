// The harness `module`: the product's own agent function, run inside the seam. Its model calls go to the arm, its tools and reads to the tape; the product's SDK records it.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Seam, type SeamState, seamHandshake, withSeam } from '@homeground/sdk/seam'
import { asObject, genAi, HomegroundError, homeground, isJson, type Json, parseJson, type SpanRecord } from '@homeground/sdk/trace'
import { errorBody, httpAnswer } from '../gateway/http-answer.ts'
import { rolloutSeed, seededRandom } from './seeded.ts'
import { episodeOfSpans } from './span-episode.ts'
import { ReplayedToolError } from './tool-answers.ts'
import type { Harness, Play, Played, RolloutJob } from './types.ts'

export type AgentFunction = (input: unknown) => unknown

export const playModule: Harness = async (play) => {
  const { job, signal } = play
  const agent = await loadAgent(job)
  const spans: SpanRecord[] = []
  const state: SeamState = {
    attributes: rolloutAttributes(job),
    traceId: play.ids.trace,
    spanId: play.ids.span,
    record: (span) => spans.push(span),
  }
  const inputs = job.unit === 'session' && Array.isArray(job.task.input) ? job.task.input : [job.task.input ?? null]
  const userTurns = { served: 0, afterDivergence: 0 }
  const startedAtMs = play.deps.now()
  const started = play.deps.monotonicMs()
  let output: unknown
  let error: Played['error']
  try {
    for (const [index, input] of inputs.entries()) {
      if (index > 0) {
        userTurns.served += 1
        if (play.tape.divergence(index - 1) !== undefined) userTurns.afterDivergence += 1
      }
      const given = structuredClone(input)
      output = await abortable(
        signal,
        withSeam({ seam: seamOf(play), state, signal }, async () => await agent(given)),
      )
    }
  } catch (thrown) {
    error = errorOf(thrown)
  }
  const episode = episodeOfSpans(spans, {
    job,
    ids: play.ids,
    startedAtMs,
    durationMs: play.deps.monotonicMs() - started,
    output: isJson(output) ? output : undefined,
    error,
  })
  return {
    episode,
    stop: error === undefined ? 'done' : 'error',
    ...(error === undefined ? {} : { error }),
    ...(userTurns.served > 0 ? { userTurns } : {}),
  }
}

/** The function that env.json names, loaded once a process. @throws HomegroundError not-found, invalid-settings, seam-not-found */
export async function loadAgent(job: Pick<RolloutJob, 'harness' | 'folder' | 'arm'>): Promise<AgentFunction> {
  if (job.harness.kind !== 'module') throw new TypeError('not a module harness')
  const [file = '', name = 'default'] = job.harness.module.split('#')
  const absolute = path.resolve(job.arm.cwd ?? job.folder, file)
  const module = await importModule(absolute)
  const agent = module[name]
  if (!isAgent(agent)) {
    const exported = Object.keys(module).join(', ') || 'nothing'
    throw new HomegroundError('invalid-settings', `${absolute} exports no function named ${name}; it exports ${exported}`, {
      hint: 'set harness.module in env.json to file#export, the async function that gets a task’s input',
    })
  }
  if (!seamHandshake()) {
    throw new HomegroundError(
      'seam-not-found',
      `${absolute} was loaded, and no copy of @homeground/sdk in it answered: its tools would run live`,
      {
        hint: 'call homeground({ … }) when the module is loaded and wrap client, tools and agent with it; one version of @homeground/sdk',
      },
    )
  }
  return agent
}

async function importModule(absolute: string): Promise<Record<string, unknown>> {
  try {
    return await import(pathToFileURL(absolute).href)
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new HomegroundError('not-found', `${absolute} cannot be loaded: ${message}`, {
      hint: absolute.endsWith('.ts')
        ? 'name the compiled .js file, or run with a loader (NODE_OPTIONS="--import tsx")'
        : 'check harness.module in env.json; build the product first',
      cause,
    })
  }
}

function isAgent(value: unknown): value is AgentFunction {
  return typeof value === 'function'
}

function seamOf(play: Play): Seam {
  const { job, tools } = play
  const random = seededRandom(rolloutSeed(job))
  return {
    async model(request) {
      const body = asObject(parseJson(request.body ?? ''))
      if (request.api === undefined || body === undefined) {
        throw new HomegroundError(
          'invalid-settings',
          `the product sent ${request.method} ${request.url} through the recording client: no dialect reads it`,
          {
            hint: 'wrap that request with hg.io(name, fn), so that its answer is taped',
          },
        )
      }
      const api = request.api
      const lane = laneOf(request.agents)
      const answer = await play.model
        .answer({ api, body, ...(lane === undefined ? {} : { lane }), ...(request.signal === undefined ? {} : { signal: request.signal }) })
        .catch((error: unknown) => {
          if (request.signal?.aborted === true) throw error
          return { status: 500, body: errorBody(api, 'gateway', String(error)), provider: '', model: '', attempts: 1, untranslated: [] }
        })
      const http = httpAnswer({ api, body }, answer)
      return new Response(http.body, { status: http.status, headers: http.headers })
    },
    async tool(call) {
      const lane = laneOf(call.agents)
      try {
        const served = await tools.tool({
          name: call.name,
          arguments: call.arguments,
          effect: call.effect,
          implemented: true,
          live: call.live,
          ...(call.callId === undefined ? {} : { callId: call.callId }),
          ...(lane === undefined ? {} : { lane }),
        })
        if (served.offTape !== undefined) call.offTape = served.offTape
        return served.result
      } catch (error) {
        if (error instanceof ReplayedToolError && error.offTape !== undefined) call.offTape = error.offTape
        throw error
      }
    },
    async io(read) {
      const lane = laneOf(read.agents)
      const served = await tools.io({
        name: read.name,
        arguments: read.key ?? null,
        live: read.live,
        ...(lane === undefined ? {} : { lane }),
      })
      return served.result
    },
    variant: (name): Json | undefined => job.arm.variants?.[name],
    now: () => play.tape.instant('now') ?? play.clock.now(),
    random: () => play.tape.instant('random') ?? random(),
  }
}

function laneOf(agents: readonly string[]): string | undefined {
  return agents.length > 1 ? agents[agents.length - 1] : undefined
}

function rolloutAttributes({ task, run, arm, repeat }: RolloutJob): Record<string, string | number> {
  return {
    [homeground.sourceKind]: 'rollout',
    [homeground.replayRun]: run,
    [homeground.replayArm]: arm.name,
    [homeground.replayTask]: task.id,
    [homeground.replayRepeat]: repeat,
    [genAi.sessionId]: task.session,
    ...Object.fromEntries(Object.entries(task.tags).map(([name, value]) => [`${homeground.tag}${name}`, value])),
  }
}

/** A product that never settles must not hold the rollout: it ends when the signal says so. */
async function abortable<T>(signal: AbortSignal, running: Promise<T>): Promise<T> {
  let onAbort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([running, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
    running.catch(() => {})
  }
}

function errorOf(thrown: unknown): { type: string; message: string } {
  if (HomegroundError.is(thrown)) return { type: thrown.code, message: thrown.message }
  return thrown instanceof Error ? { type: thrown.name, message: thrown.message } : { type: 'Error', message: String(thrown) }
}
