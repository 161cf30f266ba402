// Reinforcement learning through a product's own harness learns: wordle-mini, a random model of two layers warmed with what a crowd played, then GRPO.
// `node bench/train/grpo.mjs [--seeds 0,1,2] [--steps 40] [--work FOLDER]`; with a work folder the same command goes on where it was stopped. Last line: JSON.
// Bar: for each seed the mean reward of the last 5 steps is at least 0.3 above that of the first 3, and sampled and trained log-probabilities agree to 1e-4 (fp32).
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..')
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '0,1,2' },
    steps: { type: 'string', default: '40' },
    work: { type: 'string' },
  },
})
const work = values.work ?? fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-bench-grpo-'))
const environment = path.join(root, 'examples', 'wordle-mini', 'env')
fs.mkdirSync(work, { recursive: true })

await warm()
const seeds = []
for (const seed of values.seeds.split(',').map(Number)) seeds.push(await train(seed))
if (values.work === undefined) fs.rmSync(work, { recursive: true })
const passed = seeds.every(({ gain, logprobGap }) => gain >= 0.3 && logprobGap <= 1e-4)
process.stdout.write(`${JSON.stringify({ bench: 'train/grpo', steps: Number(values.steps), seeds, passed })}\n`)
process.exitCode = passed ? 0 : 1

/** What the crowd played becomes rows, and the random model learns to play like the crowd. */
async function warm() {
  const rows = path.join(work, 'crowd.jsonl')
  if (!fs.existsSync(rows)) {
    const { startCrowd } = await import(pathToFileURL(path.join(root, 'examples', 'wordle-mini', 'dist', 'offline', 'crowd.js')).href)
    const crowd = await startCrowd({ seed: 7 })
    const arm = ['--arm', 'crowd=crowd', '--url', crowd.url]
    await homeground(
      'run',
      environment,
      ...arm,
      '--split',
      'train',
      '--repeats',
      '6',
      '--concurrency',
      '1',
      '--out',
      path.join(work, 'crowd'),
    )
    await crowd.close()
    await homeground('dataset', path.join(work, 'crowd'), '--format', 'trl-sft', '--out', rows)
  }
  if (!fs.existsSync(path.join(work, 'tiny'))) await homeground('tune', 'model', 'tiny', path.join(work, 'tiny'), '--texts', rows)
  const batch = [
    'optimizer.batchSize=8',
    'optimizer.perDeviceBatch=8',
    'optimizer.epochs=80',
    'optimizer.learningRate=0.003',
    'optimizer.sharePrefix=on',
  ]
  const set = ['--set', 'method=full', 'checkpoints.everySteps=1000', ...batch]
  await homeground('tune', 'sft', '--model', path.join(work, 'tiny'), '--data', rows, '--output', path.join(work, 'warm'), ...set)
}

async function train(seed) {
  const output = path.join(work, `seed-${seed}`)
  // Five of the ten words a step, so that a step's mean is not a matter of which two were drawn; and no word rests, or the last steps would play those alone that are not found yet.
  const step = ['rollouts.tasksPerStep=5', 'rollouts.curriculum=false', 'optimizer.perDeviceBatch=40']
  const length = ['rollouts.turnTokens=32', 'rollouts.rolloutTokens=600']
  const optimizer = ['optimizer.learningRate=0.001', 'optimizer.schedule=constant_with_warmup', 'optimizer.warmupShare=0.1']
  const set = [
    '--set',
    'method=full',
    `seed=${seed}`,
    `optimizer.maxSteps=${values.steps}`,
    'checkpoints.everySteps=20',
    ...step,
    ...length,
    ...optimizer,
  ]
  const started = performance.now()
  await homeground('tune', 'grpo', '--environment', environment, '--model', path.join(work, 'warm', 'model'), '--output', output, ...set)
  const steps = fs
    .readFileSync(path.join(output, 'metrics.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === 'step')
  const rewards = steps.map(({ reward }) => reward)
  const first = mean(rewards.slice(0, 3))
  const last = mean(rewards.slice(-5))
  return {
    seed,
    first: rounded(first),
    last: rounded(last),
    gain: rounded(last - first),
    logprobGap: Math.max(...steps.map(({ logprobGap }) => logprobGap.max)),
    seconds: Math.round((performance.now() - started) / 1000),
  }
}

function homeground(...args) {
  return new Promise((resolve, reject) => {
    const command = [path.join(root, 'dist', 'cli', 'main.js'), '--json', ...args]
    const child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
    child.once('error', reject)
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`homeground ${args.slice(0, 2).join(' ')} ended with ${code}`)),
    )
  })
}

function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}

function rounded(number) {
  return Math.round(number * 1000) / 1000
}
