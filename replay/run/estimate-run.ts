// What a run will ask of its arms and cost, before it begins: each arm is taken to make the calls that were recorded, at its own model's price. A candidate may talk more or less; cached answers cost nothing.
import { HomegroundError, type ModelCall } from '@homeground/sdk/trace'
import { taskCalls } from '../environment/task-calls.ts'
import type { Environment, HarnessSettings } from '../environment/types.ts'
import { type Prices, usageCostUsd } from '../rubric/cost.ts'
import { checkArms } from './check-arms.ts'
import { Others, type OthersEstimate } from './estimate-others.ts'
import type { RunOptions } from './run-rollouts.ts'
import type { Arm } from './types.ts'

export interface RunEstimate {
  tasks: number
  /** So many of their recordings were read; the rest are taken to be like them. 0: there are none, and nothing is estimated. */
  read: number
  /** Some calls were recorded without token counts: theirs are a fourth of their characters. */
  isGuessed: boolean
  arms: ArmEstimate[]
  /** Over all arms; absent where the rubric has no judge. */
  judges?: OthersEstimate
  /** Of tools that are always simulated, and of a simulated user; what leaves the tape cannot be foreseen. */
  simulators?: OthersEstimate
  /** The sum of all that is asked; absent where a price is not known. */
  costUsd?: number
}

export interface ArmEstimate {
  name: string
  model: string
  rollouts: number
  modelCalls: number
  inputTokens: number
  outputTokens: number
  /** Absent where the model has no price. The arm `recorded` costs nothing. */
  costUsd?: number
}

export interface EstimateOptions {
  arms: readonly Arm[]
  tasks?: RunOptions['tasks']
  /** @default 1 */
  repeats?: number
  /** @default the environment's */
  harness?: HarnessSettings
  prices: Prices
}

/** So many recordings tell enough of the rest. */
const mostRead = 200

/** @throws HomegroundError invalid-argument as a run would; environment-invalid where a recording cannot be read */
export async function estimateRun(environment: Environment, options: EstimateOptions): Promise<RunEstimate> {
  const { arms, repeats = 1, prices, harness = environment.file.harness } = options
  checkArms(arms)
  const calls: ModelCall[] = []
  const judges = new Others(prices)
  const simulators = new Others(prices)
  let tasks = 0
  let read = 0
  for await (const task of environment.tasks(options.tasks)) {
    if (tasks === options.tasks?.limit) break
    tasks += 1
    if (read === mostRead || !environment.hasRecordings) continue
    const recording = await environment.recording(task.id)
    if (recording === undefined) continue
    const played = taskCalls(task, recording, harness.kind)
    calls.push(...played)
    judges.addJudges(environment, task, recording, played)
    simulators.addSimulator(environment, recording, harness.kind)
    read += 1
  }
  const usages = calls.map(usageOf)
  if (tasks === 0)
    throw new HomegroundError('invalid-argument', `no task of ${environment.file.name} is chosen`, { hint: 'loosen --split or --task' })
  const rollouts = tasks * repeats
  const scale = read === 0 ? 0 : rollouts / read
  const scaled = (values: readonly number[]) => Math.round(values.reduce((sum, value) => sum + value, 0) * scale)
  const each = arms.map(({ name, model }): ArmEstimate => {
    const costs = usages.map((usage) => (model === 'recorded' ? 0 : usageCostUsd(model, usage, prices)))
    const known = costs.flatMap((cost) => (cost === undefined ? [] : [cost]))
    return {
      name,
      model,
      rollouts,
      modelCalls: Math.round(calls.length * scale),
      inputTokens: scaled(usages.map(({ inputTokens }) => inputTokens)),
      outputTokens: scaled(usages.map(({ outputTokens }) => outputTokens)),
      ...(known.length === costs.length && read > 0 ? { costUsd: known.reduce((sum, cost) => sum + cost, 0) * scale } : {}),
    }
  })
  const others = {
    judges: judges.estimate(scale * arms.length),
    // The arm `recorded` hears its own user, and nearly only its own tools.
    simulators: simulators.estimate(scale * arms.filter(({ model }) => model !== 'recorded').length),
  }
  const asked = [...each, ...Object.values(others).flatMap((other) => other ?? [])]
  const costs = asked.flatMap(({ costUsd }) => (costUsd === undefined ? [] : [costUsd]))
  return {
    tasks,
    read,
    isGuessed: usages.some(({ isGuessed }) => isGuessed),
    arms: each,
    ...(others.judges && { judges: others.judges }),
    ...(others.simulators && { simulators: others.simulators }),
    ...(costs.length === asked.length ? { costUsd: costs.reduce((sum, cost) => sum + cost, 0) } : {}),
  }
}

/** As the provider counted; else a fourth of the characters, as English takes. */
function usageOf({ request, response }: ModelCall) {
  const usage = response?.usage ?? {}
  const { inputTokens = guess([request.messages, request.tools]), outputTokens = guess(response?.outputs ?? []) } = usage
  return { ...usage, inputTokens, outputTokens, isGuessed: usage.inputTokens === undefined || usage.outputTokens === undefined }
}

function guess(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / 4)
}
