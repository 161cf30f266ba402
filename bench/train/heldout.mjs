// Supervised fine-tuning teaches what was not in its rows: SmolLM2-135M with LoRA on 20 real episodes (examples/data), its loss on those of other tasks.
// `node bench/train/heldout.mjs [--work FOLDER]`; with a work folder the same command goes on where it was stopped. Last line: JSON. Half an hour on two cores.
// Rows: the first attempt at each task, in the file's order; 20 tasks to learn from, the next 6 held out; of each row its first 2,500 tokens (`data.tooLong=cut`).
// Bar: two epochs take at least 30 % off the loss of the tasks held out.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

const root = path.resolve(import.meta.dirname, '..', '..')
const { values } = parseArgs({ options: { work: { type: 'string' } } })
const work = path.resolve(values.work ?? fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-bench-heldout-')))
fs.mkdirSync(work, { recursive: true })
const at = (name) => path.join(work, name)
const learned = 20
const heldOut = 6
const tokens = 2_500

if (!fs.existsSync(at('held-out.jsonl'))) makeRows()
if (!fs.existsSync(at(path.join('base', 'tokenizer_config.json')))) homeground('tune', 'model', 'smollm2', at('base'))
const started = performance.now()
homeground(
  ...['tune', 'sft', '--model', at('base'), '--data', at('learned.jsonl'), '--validation', at('held-out.jsonl'), '--output', at('tuned')],
  ...['--set', `data.maxTokens=${tokens}`, 'data.tooLong=cut', 'optimizer.epochs=2', 'optimizer.learningRate=0.001'],
  // Two rows at a time that share instructions and tools, more than half of what 2,500 tokens hold.
  ...['optimizer.batchSize=2', 'optimizer.perDeviceBatch=2', 'optimizer.sharePrefix=on', 'optimizer.gradientCheckpointing=on'],
  ...['checkpoints.everySteps=5', 'stallMinutes=60'],
)
const seconds = Math.round((performance.now() - started) / 1000)
const events = fs
  .readFileSync(at(path.join('tuned', 'metrics.jsonl')), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
const losses = events.filter(({ event }) => event === 'evaluation').map(({ loss }) => Math.round(loss * 1_000) / 1_000)
const rows = events
  .filter(({ event }) => event === 'rows')
  .map(({ split, kept, cut, tokens: { total }, trainedShare }) => ({ split, kept, cut, tokens: total, trainedShare }))
const fall = 1 - losses.at(-1) / losses[0]
if (values.work === undefined) fs.rmSync(work, { recursive: true })
process.stdout.write(
  `${JSON.stringify({ bench: 'train/heldout', rows, losses, fall: Math.round(fall * 1_000) / 1_000, seconds, passed: fall >= 0.3 })}\n`,
)
process.exitCode = fall >= 0.3 ? 0 : 1

function makeRows() {
  const data = path.join(root, 'examples', 'data')
  const store = ['--folder', at('homeground')]
  const tools = path.join(data, 'tau-airline-tools.json')
  homeground(
    'import',
    path.join(data, 'tau-airline-gpt4o.jsonl.gz'),
    '--format',
    'tau-bench',
    '--project',
    'airline',
    '--tools',
    tools,
    ...store,
  )
  homeground('dataset', '--project', 'airline', '--format', 'trl-sft', '--out', at('rows.jsonl'), ...store)
  const lines = (name) => fs.readFileSync(at(name), 'utf8').trim().split('\n')
  const tasks = new Set()
  const sources = lines('rows.sources.jsonl').map((line) => JSON.parse(line))
  const firsts = lines('rows.jsonl').filter((_, index) => {
    const { task } = sources[index]
    return !tasks.has(task) && tasks.add(task)
  })
  fs.writeFileSync(at('learned.jsonl'), `${firsts.slice(0, learned).join('\n')}\n`)
  fs.writeFileSync(at('held-out.jsonl'), `${firsts.slice(learned, learned + heldOut).join('\n')}\n`)
}

function homeground(...args) {
  const ended = spawnSync(process.execPath, [path.join(root, 'dist', 'cli', 'main.js'), '--json', ...args], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (ended.status !== 0) throw new Error(`homeground ${args.slice(0, 2).join(' ')} ended with ${ended.status}`)
}
