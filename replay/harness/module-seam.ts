// The seam that the product runs in during a rollout: model calls to the arm, tools and reads to the tape, variants from the arm, time and dice from the rollout.
import type { Seam, SeamModelRequest, SeamToolCall } from '@homeground/sdk/seam'
import { asObject, dialectOf, HomegroundError, type Json, parseJson } from '@homeground/sdk/trace'
import { httpAnswer } from '../gateway/http-answer.ts'
import { ReplayedToolError } from './tool-answers.ts'
import type { Play } from './types.ts'
import { outsideScope } from './virtual/scope.ts'

/** What a live model call moves the rollout's clock by: the real time would differ from run to run. */
const modelCallMs = 1_000

export function moduleSeam(play: Play, random: () => number): Seam {
  const { job, tools, clock } = play
  return {
    model: (request) => clock.during(() => outsideScope(() => answerModel(play, request))),
    tool: (call) => clock.during(() => answerTool(play, call)),
    io: (read) =>
      clock.during(async () => {
        const lane = laneOf(read.agents)
        try {
          const served = await tools.io({
            name: read.name,
            arguments: read.key ?? null,
            live: read.live,
            ...(lane === undefined ? {} : { lane }),
          })
          clock.advance(served.durationMs ?? 0)
          return served.result
        } catch (error) {
          if (error instanceof ReplayedToolError) clock.advance(error.durationMs)
          throw error
        }
      }),
    variant: (name, isText): Json | undefined => job.arm.variants?.[name] ?? recordedVariant(job, name, isText),
    now: () => play.tape.instant('now') ?? clock.now(),
    random: () => play.tape.instant('random') ?? random(),
  }
}

/** A task is played against itself with what it was recorded with, a canary's value too. Spans have it as text, and without content a long one as its digest. */
function recordedVariant({ arm, task }: Play['job'], name: string, isText = true): Json | undefined {
  const said = arm.model === 'recorded' ? task.tags[`variant.${name}`] : undefined
  if (said === undefined || /^sha256:[0-9a-f]{16}$/.test(said)) return undefined
  return isText ? said : (parseJson(said) ?? said)
}

async function answerModel(play: Play, request: SeamModelRequest): Promise<Response> {
  const body = asObject(parseJson(request.body ?? ''))
  const { api, signal } = request
  if (api === undefined || body === undefined || dialectOf(api) === undefined) {
    const reason = new HomegroundError(
      'unwrapped-network',
      `in a replay the product asked ${request.method} ${request.url.split(/[?#]/, 1)[0]}, which is no model call that another model could answer`,
      { hint: 'wrap what it is for (the retrieval, say) with hg.io(name, fn), or make it a tool with hg.tool: then its answer is taped' },
    )
    // A client makes an error of its own of what is thrown here, and asks again.
    play.stop(reason)
    throw reason
  }
  const lane = laneOf(request.agents)
  const answer = await play.model.answer({
    api,
    body,
    ...(lane === undefined ? {} : { lane }),
    ...(signal === undefined ? {} : { signal }),
  })
  play.clock.advance(answer.recordedMs ?? modelCallMs)
  const http = httpAnswer({ api, body }, answer)
  return new Response(http.body, { status: http.status, headers: http.headers })
}

async function answerTool(play: Play, call: SeamToolCall): Promise<Json | undefined> {
  const lane = laneOf(call.agents)
  try {
    const served = await play.tools.tool({
      name: call.name,
      arguments: call.arguments,
      effect: call.effect,
      implemented: true,
      live: call.live,
      ...(call.callId === undefined ? {} : { callId: call.callId }),
      ...(lane === undefined ? {} : { lane }),
    })
    if (served.offTape !== undefined) call.offTape = served.offTape
    play.clock.advance(served.durationMs ?? 0)
    return served.result
  } catch (error) {
    if (error instanceof ReplayedToolError) {
      play.clock.advance(error.durationMs)
      if (error.offTape !== undefined) call.offTape = error.offTape
    }
    throw error
  }
}

function laneOf(agents: readonly string[]): string | undefined {
  return agents.length > 1 ? agents[agents.length - 1] : undefined
}
