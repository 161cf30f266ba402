// One measurement of bench:replay in a process of its own: `node part.mjs NAME SIZE FOLDER`. Last line: JSON.
import fs from 'node:fs'
import path from 'node:path'
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { assembleEpisodes, expandEpisodeLine, formatEpisodeLine, JsonLinesWriter, readJsonLines, sha256Hex } from '@homeground/sdk/trace'
import { keepHeapLean } from '../../dist/cli/lean-heap.js'
import { buildEnvironment } from '../../dist/replay/environment/build.js'
import { openEnvironment } from '../../dist/replay/environment/open.js'
import { runRollouts } from '../../dist/replay/run/run-rollouts.js'
import { readTools } from '../../dist/store/import/read-tools.js'
import { tauBench } from '../../dist/store/import/tau-bench.js'
import { scriptedEndpoint } from './scripted-endpoint.mjs'

const [name, sizeText, folder] = process.argv.slice(2)
const size = Number(sizeText)
/** Before a sweep's figure is taken: so many builds or runs of so many tasks. */
const warmRounds = 20
const warmTasks = 1000
const data = path.resolve(import.meta.dirname, '../../examples/data')
const parts = { real, spans, 'sweep-build': sweepBuild, 'sweep-run': sweepRun }
/** What was left of the heap after each full collection: the rest of the process's memory is garbage that V8 has let lie. */
let liveBytes = 0
new PerformanceObserver((list) => {
  if (list.getEntries().some(({ detail }) => detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR))
    liveBytes = Math.max(liveBytes, process.memoryUsage().heapUsed)
}).observe({ entryTypes: ['gc'] })

// As the command line does.
keepHeapLean()
const figures = await parts[name]()
const liveMb = Math.round(liveBytes / 2 ** 20)
console.log(JSON.stringify({ ...figures, peakMb: Math.round(process.resourceUsage().maxRSS / 1024), liveMb }))

/** `size` repeats of each of the 200 tasks, counted from the first. */
async function real() {
  const episodes = await airlineEpisodes()
  const out = path.join(folder, 'real')
  await buildEnvironment(episodes, { name: 'airline', folder: out, homeground: 'bench', harness: { kind: 'loop', maxSteps: 100 } })
  const environment = await openEnvironment(out)
  const { fetch, seen } = scriptedEndpoint(episodes, 'scripted')
  const cpu = process.cpuUsage()
  const started = performance.now()
  const run = await runRollouts(environment, {
    arms: [{ name: 'scripted', model: 'scripted', url: 'http://arm.invalid/v1' }],
    folder: path.join(folder, 'real-run'),
    homeground: 'bench',
    repeats: size,
    concurrency: 8,
    deps: { fetch },
  })
  const seconds = since(started)
  const { user, system } = process.cpuUsage(cpu)
  let onTape = 0
  let errors = 0
  for await (const rollout of run.rollouts()) {
    if (rollout.offTape.count === 0) onTape += 1
    if (rollout.error !== undefined) errors += 1
  }
  if (errors > 0 || seen.unknown > seen.calls / 100)
    throw new Error(`${errors} rollouts failed, ${seen.unknown} requests are not those of a recording`)
  await environment.close()
  const rollouts = run.size.done
  const cpuMsPerRollout = Number(((user + system) / 1000 / rollouts).toFixed(2))
  const speed = { rolloutsPerSecond: rate(rollouts, seconds), modelCallsPerSecond: rate(seen.calls, seconds), cpuMsPerRollout }
  return { rollouts, modelCalls: seen.calls, onTape, seconds, ...speed }
}

async function spans() {
  const file = path.join(folder, 'spans.jsonl.gz')
  const { written, episodes } = await writeSpans(file)
  const started = performance.now()
  await buildEnvironment(episodesOf(file), {
    name: 'spans',
    folder: path.join(folder, 'spans'),
    homeground: 'bench',
    harness: { kind: 'loop', maxSteps: 100 },
  })
  return { spans: written, episodes, seconds: since(started) }
}

async function writeSpans(file) {
  const real = await airlineEpisodes()
  const writer = await JsonLinesWriter.open(file)
  let written = 0
  let episodes = 0
  for (let round = 0; written < size; round += 1) {
    for (const episode of real) {
      const id = sha256Hex(`${round} ${episode.id}`).slice(0, 32)
      await writer.writeText(formatEpisodeLine({ ...episode, id, trace: id, session: `${episode.session}-${round}` }))
      written += 1 + episode.steps.length
      episodes += 1
      if (written >= size) break
    }
  }
  await writer.close()
  return { written, episodes }
}

async function sweepBuild() {
  for (let round = 0; round < warmRounds; round += 1) await buildSmall(warmTasks)
  const started = performance.now()
  await buildSmall(size)
  return { seconds: since(started) }
}

async function buildSmall(tasks) {
  const out = path.join(folder, `small-${tasks}`)
  await buildEnvironment(smallEpisodes(tasks), { name: 'small', folder: out, homeground: 'bench', harness: { kind: 'loop', maxSteps: 8 } })
}

async function sweepRun() {
  for (let round = 0; round < warmRounds; round += 1) await runSmall(warmTasks)
  const started = performance.now()
  await runSmall(size)
  return { seconds: since(started) }
}

async function runSmall(tasks) {
  const environment = await openEnvironment(path.join(folder, `small-${tasks}`))
  const out = path.join(folder, 'small-run')
  const run = await runRollouts(environment, {
    arms: [{ name: 'clerk', model: 'clerk', url: 'http://arm.invalid/v1' }],
    folder: out,
    homeground: 'bench',
    concurrency: 8,
    deps: { fetch: async (_url, { body }) => Response.json(clerk(JSON.parse(body).messages)) },
  })
  if (run.size.done !== tasks) throw new Error(`${run.size.done} of ${tasks} rollouts`)
  await environment.close()
  fs.rmSync(out, { recursive: true })
}

function clerk(messages) {
  const order = /order (\S+)/.exec(messages[1].content)[1]
  const message =
    messages.at(-1).role === 'tool'
      ? { role: 'assistant', content: `Order ${order} is on its way.` }
      : {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get_order', arguments: JSON.stringify({ id: order }) } }],
        }
  return {
    id: 'x',
    model: 'clerk',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 40, completion_tokens: 9 },
  }
}

async function* smallEpisodes(count) {
  for (let number = 0; number < count; number += 1) {
    const trace = sha256Hex(`small ${number}`).slice(0, 32)
    const startMs = Date.UTC(2026, 0, 1) + number * 1000
    const at = (ms) => new Date(startMs + ms).toISOString()
    const text = (role, content) => ({ role, parts: [{ type: 'text', content }] })
    const prompt = [
      text('system', 'You are the desk of a shop. Look orders up before you say where they are.'),
      text('user', `Where is order ${number}?`),
    ]
    const asked = { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'get_order', arguments: { id: String(number) } }] }
    const result = { id: String(number), status: 'sent', items: ['lamp', 'chair'] }
    const base = { kind: 'model', durationMs: 900, api: 'openai.chat', provider: 'openai', model: 'clerk' }
    const request = (messages) => ({ messages, tools: [], parameters: {} })
    const response = (output, finish) => ({ outputs: [output], finishReasons: [finish], usage: { inputTokens: 40, outputTokens: 9 } })
    const seen = [...prompt, asked, { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: result }] }]
    yield {
      format: 1,
      id: trace,
      trace,
      project: 'small',
      session: `session-${Math.floor(number / 4)}`,
      tags: {},
      startedAt: at(0),
      durationMs: 2000,
      steps: [
        { ...base, id: '1'.repeat(16), startedAt: at(0), request: request(prompt), response: response(asked, 'tool_call') },
        {
          kind: 'tool',
          id: '2'.repeat(16),
          startedAt: at(900),
          durationMs: 20,
          name: 'get_order',
          callId: 'c1',
          arguments: { id: String(number) },
          result,
          effect: 'read',
        },
        {
          ...base,
          id: '3'.repeat(16),
          startedAt: at(950),
          request: request(seen),
          response: response(text('assistant', `Order ${number} is on its way.`), 'stop'),
        },
      ],
      feedback: [
        {
          name: 'expected_actions',
          value: JSON.stringify([{ name: 'get_order', arguments: { id: String(number) } }]),
          source: 'bench',
          at: at(0),
        },
      ],
      source: { kind: 'import' },
    }
  }
}

async function airlineEpisodes() {
  const episodes = []
  const tools = await readTools(path.join(data, 'tau-airline-tools.json'))
  for await (const { rows, feedback } of tauBench.read(path.join(data, 'tau-airline-gpt4o.jsonl.gz'), {
    project: 'airline',
    tools,
    model: undefined,
  })) {
    episodes.push(...assembleEpisodes(rows, feedback))
  }
  return episodes
}

async function* episodesOf(file) {
  for await (const { value, line } of readJsonLines(file)) yield expandEpisodeLine(value, `${file}:${line}`)
}

function since(started) {
  return Number(((performance.now() - started) / 1000).toFixed(2))
}

function rate(count, seconds) {
  return Math.round(count / seconds)
}
