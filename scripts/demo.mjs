// The whole loop, offline: a product's traffic -> store -> environment -> rollouts -> comparison -> training rows. Calls the command line as a user would and says what it is doing.
// With OPENAI_BASE_URL and OPENAI_MODEL set, a real model serves the product and stands against the scripted one.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { customersWrite } from './demo/customers.mjs'
import { createStage, DemoError, say } from './demo/stage.mjs'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const folder = path.join(root, '.homeground', 'demo')
const desk = path.join(root, 'examples', 'support-desk', 'dist')
const data = path.join(root, 'examples', 'data')
const started = Date.now()
let steps = 0
const realModel =
  process.env.OPENAI_BASE_URL === undefined ? undefined : { url: process.env.OPENAI_BASE_URL, name: process.env.OPENAI_MODEL }

const stage = createStage({ root, folder })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stage.end())
try {
  if (realModel !== undefined && !realModel.name) throw new DemoError('OPENAI_BASE_URL is set and OPENAI_MODEL is not; name the model too')
  await demo()
} catch (error) {
  process.stderr.write(`\ndemo: ${error instanceof DemoError ? error.message : (error.stack ?? error)}\n`)
  process.stderr.write(`demo: logs lie in ${shown(folder)}; \`npx homeground doctor\` says whether something is missing\n`)
  process.exitCode = 1
} finally {
  await stage.end()
}

async function demo() {
  freshFolder()
  say(
    `Everything happens in ${shown(folder)}; nothing leaves this machine${realModel === undefined ? '' : ` but calls to ${realModel.url}`}.`,
  )

  step('Start the collector and its store (an embedded ClickHouse)')
  say('  $ npx homeground up --port 0')
  const up = await stage.start('up', [path.join(root, 'dist', 'cli', 'main.js'), 'up', '--port', '0'], { ready: /collector +(http:\S+)/ })
  const collector = up.match[1]
  say(`    collector at ${collector}`)

  step('Start the product: a shop’s support desk, instrumented with @homeground/sdk')
  const models = await stage.start('models', [path.join(desk, 'offline', 'main.js')], { env: { PORT: '0' }, ready: /at (http:\S+)/ })
  const scripted = models.match[1]
  const production = realModel ?? { url: scripted, name: 'desk-expert' }
  const product = await stage.start('desk', [path.join(desk, 'main.js')], {
    env: {
      PORT: '0',
      OPENAI_BASE_URL: production.url,
      OPENAI_MODEL: production.name,
      HOMEGROUND_ENDPOINT: collector,
      DESK_TODAY: '2026-03-02',
    },
    ready: /support desk at (http:\S+)/,
  })
  say(`    the desk at ${product.match[1]} talks to ${production.name} at ${production.url}`)

  step('Sixty customers write to the desk, over HTTP')
  say(`    ${await customersWrite(stage, { desk, url: product.match[1] })}`)
  await product.stop()
  await stage.homeground(['traces', 'list'])
  await stage.homeground(['traces', 'list', 'support-desk', '--limit', '3'])

  step('Build an environment out of that traffic, and replay it against itself')
  const agent = `${path.relative(folder, path.join(desk, 'desk.js'))}#answer`
  await stage.homeground(['env', 'build', 'desk', '--project', 'support-desk', '--module', agent, '--split-by', 'user'])
  await stage.homeground(['env', 'verify', 'desk'])

  step('Which model is better for this product? Two arms, three repeats of each task')
  const arms = ['--arm', 'novice=desk-novice', '--arm', `production=${production.name}`]
  await stage.homeground([
    'run',
    'desk',
    ...(realModel === undefined ? [...arms, '--url', scripted] : ['--arms', armsFile(production, scripted)]),
    '--repeats',
    '3',
    '--out',
    'runs/models',
  ])
  await stage.homeground(['compare', 'runs/models'])

  step('Training rows out of the scored rollouts')
  for (const format of ['trl-sft', 'openai-sft']) {
    await stage.homeground(['dataset', 'runs/models', '--format', format, '--min-score', '1', '--out', `desk.${format}.jsonl`])
  }

  step('The same with 200 real episodes: GPT-4o as an airline’s agent (tau-bench, MIT)')
  const recorded = path.relative(folder, path.join(data, 'tau-airline-gpt4o.jsonl.gz'))
  const tools = path.relative(folder, path.join(data, 'tau-airline-tools.json'))
  await stage.homeground(['import', recorded, '--format', 'tau-bench', '--project', 'tau-airline', '--tools', tools])
  await stage.homeground(['env', 'build', 'airline', '--project', 'tau-airline', '--harness', 'loop', '--licence', 'MIT'])
  await stage.homeground(['env', 'verify', 'airline'])
  say('  Our grader beside the published reward, and an A/A comparison, which must find no difference:')
  await stage.homeground(['grade', 'airline', '--against', 'reward', '--at-least', '0.985'])
  await stage.homeground(['compare', '--episodes', 'project=tau-airline', '--by', 'source.repeat', '--a', '0+1', '--b', '2+3'])

  summary()
}

function summary() {
  const seconds = Math.round((Date.now() - started) / 1000)
  const cd = `cd ${shown(folder)}`
  say(`
Done in ${seconds} s. What was made, all in ${shown(folder)}:
  desk/                  an environment of the support desk: tasks, tapes, rubric, and its card, desk/README.md
  airline/               the same of 200 real episodes
  runs/models/           rollouts, the comparison, and report.html to open in a browser
  desk.*.jsonl           training rows for TRL and for OpenAI fine-tuning

What to try next:
  ${cd}
  npx homeground traces list support-desk         and: npx homeground traces show TRACE
  npx homeground env show desk                    the environment's card
  edit desk/rubric.json                           what does "better" mean here? then: npx homeground env seal desk

The same with a real model, behind any OpenAI-compatible address:
  OPENAI_BASE_URL=http://127.0.0.1:8000/v1 OPENAI_MODEL=your-model npm run demo`)
}

/** The real model and the scripted novice live at two addresses: arms come from a file then. */
function armsFile(production, scripted) {
  const key = process.env.OPENAI_API_KEY === undefined ? {} : { apiKeyEnv: 'OPENAI_API_KEY' }
  const arms = [
    { name: 'novice', model: 'desk-novice', url: scripted },
    { name: 'production', model: production.name, url: production.url, ...key },
  ]
  fs.writeFileSync(path.join(folder, 'arms.json'), `${JSON.stringify(arms, null, 2)}\n`)
  return 'arms.json'
}

function step(title) {
  steps += 1
  say(`\n${steps}. ${title}`)
}

/** The last demo's folder goes, so that every demo begins alike; other things under .homeground stay. */
function freshFolder() {
  if (fs.existsSync(folder)) say(`Removing what the last demo left in ${shown(folder)}.`)
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  fs.mkdirSync(folder, { recursive: true })
}

function shown(file) {
  return path.relative(process.cwd(), file) || '.'
}
