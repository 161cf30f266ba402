// The harness `command`: any program, in any language. It reads the task's input from stdin and writes its answer to stdout; model calls go to a gateway of its own, tools come
// over the SDK's remote seam, by POST or by MCP. A program with the SDK records itself; of others, what passes the gateway is recorded.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { type SeamState, serveSeam } from '@homeground/sdk/seam'
import { asObject, asText, dialectOf, HomegroundError, type Json, parseJson, type SpanRecord } from '@homeground/sdk/trace'
import { serveGateway } from '../gateway/serve-gateway.ts'
import type { GatewayAnswer, GatewayRequest } from '../gateway/types.ts'
import { EpisodeRecorder } from './episode-recorder.ts'
import { moduleSeam } from './module-seam.ts'
import { rolloutAttributes } from './rollout-attributes.ts'
import { rolloutSeed, seededRandom } from './seeded.ts'
import { episodeOfSpans } from './span-episode.ts'
import { ReplayedToolError } from './tool-answers.ts'
import { toolServer } from './tool-server.ts'
import type { Harness, Play, Played, ToolRequest } from './types.ts'

export const playCommand: Harness = async (play) => {
  const { job } = play
  if (job.harness.kind !== 'command') throw new TypeError('not a command harness')
  const spans: SpanRecord[] = []
  const recorder = new EpisodeRecorder(job, { ...play.deps, ids: play.ids })
  const state: SeamState = {
    attributes: rolloutAttributes(job),
    traceId: play.ids.trace,
    spanId: play.ids.span,
    record: (span) => spans.push(span),
  }
  const seam = await serveSeam({ seam: moduleSeam(play, seededRandom(rolloutSeed(job))), state, signal: play.signal })
  const gateway = await serveGateway({
    models: [job.arm.model],
    model: (request) => recordedModelCall(play, recorder, request),
    other: toolServer({ job, call: (request) => recordedToolCall(play, recorder, request) }),
  })
  const startedAtMs = play.deps.now()
  const started = play.deps.monotonicMs()
  try {
    const ended = await runProgram(play, {
      ...seam.environment,
      OPENAI_BASE_URL: `${gateway.url}/v1`,
      OPENAI_API_KEY: gateway.key,
      ANTHROPIC_BASE_URL: gateway.url,
      ANTHROPIC_API_KEY: gateway.key,
      HOMEGROUND_GATEWAY_URL: gateway.url,
      HOMEGROUND_GATEWAY_KEY: gateway.key,
      HOMEGROUND_MCP_URL: `${gateway.url}/mcp`,
      HOMEGROUND_MODEL: job.arm.model,
    })
    const { output, error } = ended
    const common = { job, ids: play.ids, startedAtMs, durationMs: play.deps.monotonicMs() - started, output, error }
    const episode =
      spans.length > 0
        ? episodeOfSpans(spans, common)
        : recorder.episode({ ...(output === undefined ? {} : { output }), ...(error === undefined ? {} : { error }) })
    return { episode, stop: error === undefined ? 'done' : 'error', ...(error === undefined ? {} : { error }) }
  } finally {
    await Promise.all([seam.close(), gateway.close()])
  }
}

/** @throws HomegroundError not-found: there is no such program */
async function runProgram(play: Play, environment: Record<string, string>): Promise<{ output: Json | undefined; error: Played['error'] }> {
  const { job, signal } = play
  if (job.harness.kind !== 'command') throw new TypeError('not a command harness')
  const [file = '', ...args] = job.harness.command
  const cwd = path.resolve(job.arm.cwd ?? job.folder, job.harness.cwd ?? '.')
  const env = { ...inherited(), ...job.harness.env, ...environment }
  // A group of its own, so that what a shell or `npm run` has started for it ends with it.
  const child = spawn(file, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  const kill = (): void => killGroup(child)
  signal.addEventListener('abort', kill, { once: true })
  if (signal.aborted) kill()
  const printed: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => printed.push(chunk))
  // A program that does not read its input closes the pipe.
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify(job.task.input ?? null))
  try {
    const { code, killedBy } = await new Promise<{ code: number | null; killedBy: string | null }>((resolve, reject) => {
      child.once('error', (cause) =>
        reject(
          new HomegroundError('not-found', `${file} cannot be started in ${cwd}: ${cause.message}`, {
            hint: 'mend harness.command in env.json',
            cause,
          }),
        ),
      )
      child.once('close', (exit, by) => resolve({ code: exit, killedBy: by }))
    })
    const text = Buffer.concat(printed).toString('utf8').trim()
    const error =
      code === 0 || signal.aborted ? undefined : { type: 'exit', message: `${file} ended with ${killedBy ?? `exit code ${code}`}` }
    return { output: outputOf(text), error }
  } finally {
    signal.removeEventListener('abort', kill)
  }
}

function killGroup(child: ChildProcessByStdio<Writable, Readable, null>): void {
  try {
    process.kill(-(child.pid ?? Number.NaN), 'SIGKILL')
  } catch {
    child.kill('SIGKILL')
  }
  // What has left the group may hold it open.
  child.stdout.destroy()
}

/** But for what would keep the product's SDK out of the replay, and let its tools run for real. What env.json says itself holds. */
function inherited(): NodeJS.ProcessEnv {
  const { HOMEGROUND_DISABLED: _, OTEL_SDK_DISABLED: __, NODE_ENV, ...rest } = process.env
  return NODE_ENV === undefined || NODE_ENV === 'production' ? rest : { ...rest, NODE_ENV }
}

/** The last line where it is JSON (programs print other things too), else all of the text. */
function outputOf(text: string): Json | undefined {
  if (text === '') return undefined
  return parseJson(text) ?? parseJson(text.split('\n').at(-1) ?? '') ?? text
}

async function recordedModelCall(play: Play, recorder: EpisodeRecorder, request: GatewayRequest): Promise<GatewayAnswer> {
  const begun = recorder.begin()
  const answer = await play.model.answer(request)
  const { model: _model, ...canonical } = dialectOf(request.api)?.readRequest(request.body) ?? {
    messages: [],
    tools: [],
    parameters: {},
    model: '',
  }
  const error = asText(asObject(answer.body['error'])?.['message'])
  recorder.model(begun, {
    api: request.api,
    provider: answer.provider,
    model: answer.model,
    request: canonical,
    ...(answer.response === undefined ? { error: { type: String(answer.status), message: error ?? '' } } : { response: answer.response }),
    ...(answer.attempts > 1 ? { attempts: answer.attempts } : {}),
    ...(answer.tokens === undefined ? {} : { tokens: answer.tokens }),
  })
  return answer
}

async function recordedToolCall(play: Play, recorder: EpisodeRecorder, request: ToolRequest): Promise<Json | undefined> {
  const begun = recorder.begin()
  const effect = play.job.tools[request.name]?.effect ?? 'unknown'
  const common = {
    name: request.name,
    arguments: request.arguments,
    effect,
    ...(request.callId === undefined ? {} : { callId: request.callId }),
  }
  try {
    const { result, offTape } = await play.tools.tool(request)
    recorder.tool(begun, { ...common, ...(result === undefined ? {} : { result }), ...(offTape === undefined ? {} : { offTape }) })
    return result
  } catch (error) {
    if (error instanceof ReplayedToolError) {
      const { name: type, message, offTape } = error
      recorder.tool(begun, { ...common, error: { type, message }, ...(offTape === undefined ? {} : { offTape }) })
    }
    throw error
  }
}
