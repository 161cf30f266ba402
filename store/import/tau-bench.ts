// tau-bench (sierra-research): trajectories of an agent with tools against a simulated user, each with a reward and the actions that were expected.
import path from 'node:path'
import { defaultProject, type FeedbackRow, parseInput, referenceFeedback, sha256Hex } from '@homeground/sdk/trace'
import { z } from 'zod'
import { chatMessage } from './chat-message.ts'
import { conversationRows } from './conversation-rows.ts'
import { readRecords } from './read-records.ts'
import type { ImportedTrace, Importer, ImportSettings } from './types.ts'

const action = z.looseObject({ name: z.string(), kwargs: z.record(z.string(), z.unknown()) })

/** As Homeground's example data has it, or as the benchmark itself writes it (`traj`, `info.task`). */
const lineSchema = z
  .looseObject({
    task_id: z.int().nonnegative(),
    trial: z.int().nonnegative().default(0),
    reward: z.number(),
    messages: z.array(chatMessage).optional(),
    traj: z.array(chatMessage).optional(),
    expected_actions: z.array(action).optional(),
    expected_outputs: z.array(z.string()).optional(),
    instruction: z.string().optional(),
    info: z
      .looseObject({
        task: z.looseObject({
          actions: z.array(action).optional(),
          outputs: z.array(z.string()).optional(),
          instruction: z.string().optional(),
        }),
      })
      .optional(),
  })
  .refine((line) => (line.messages ?? line.traj) !== undefined, 'messages: expected the list of chat messages')
type Line = z.output<typeof lineSchema>

export const tauBench: Importer = {
  format: 'tau-bench',
  summary: 'trajectories of tau-bench, with rewards and expected actions',
  async *read(file, settings) {
    // tau-airline-gpt4o.jsonl.gz -> airline
    const domain = /tau-(?:bench-)?([a-z]+)/.exec(path.basename(file))?.[1] ?? 'bench'
    for await (const { value, place } of readRecords(file)) {
      yield trace(parseInput(lineSchema, value, { place, what: 'a tau-bench trajectory' }), domain, settings)
    }
  },
}

/** June 2024, when the benchmark came out: files carry no times. Sixteen trials a task, ten minutes each. */
const epochMs = Date.UTC(2024, 5, 1)
const slotMs = 600_000

function trace(line: Line, domain: string, settings: ImportSettings): ImportedTrace {
  const task = `tau-${domain}-${line.task_id}`
  const traceId = sha256Hex(`tau-bench ${domain} ${line.task_id} ${line.trial}`).slice(0, 32)
  const startMs = epochMs + (line.task_id * 16 + line.trial) * slotMs
  const project = settings.project ?? defaultProject
  const instruction = line.instruction ?? line.info?.task.instruction
  const rows = conversationRows({
    project,
    traceId,
    agentName: `tau-${domain}`,
    session: task,
    user: '',
    tags: { trial: String(line.trial) },
    model: settings.model ?? 'gpt-4o',
    messages: line.messages ?? line.traj ?? [],
    tools: settings.tools.map(({ definition }) => definition),
    effects: new Map(settings.tools.map(({ name, effect }) => [name, effect])),
    startTimeUnixNano: BigInt(startMs) * 1_000_000n,
    input: instruction === undefined ? '' : JSON.stringify({ instruction }),
    source: { ref: `tau-bench ${domain} task ${line.task_id} trial ${line.trial}`, task, repeat: line.trial },
  })
  return { rows, feedback: feedbackOf(line, { project, traceId, at: new Date(startMs).toISOString() }) }
}

function feedbackOf(line: Line, where: Pick<FeedbackRow, 'project' | 'traceId' | 'at'>): FeedbackRow[] {
  const row = (name: string, value: FeedbackRow['value']): FeedbackRow => ({
    ...where,
    stepId: '',
    name,
    value,
    comment: '',
    source: 'tau-bench',
  })
  const actions = (line.expected_actions ?? line.info?.task.actions)?.map(({ name, kwargs }) => ({ name, arguments: kwargs }))
  const outputs = line.expected_outputs ?? line.info?.task.outputs
  return [
    row('reward', line.reward),
    ...(actions === undefined ? [] : [row(referenceFeedback.actions, JSON.stringify(actions))]),
    ...(outputs === undefined ? [] : [row(referenceFeedback.outputs, JSON.stringify(outputs))]),
  ]
}
