// How often is an arm called better or worse than itself, and how often is a difference that the design should find found?
// `npm run bench:statistics [-- EXPERIMENTS]` (default 20,000 a design). The verdict rule is the product's own. Last line: JSON; exit 1 outside the bands.
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { seededRandom } from '../../dist/replay/compare/seeded-random.js'
import { tQuantile } from '../../dist/replay/compare/student-t.js'
import { estimate, verdictOf } from '../../dist/replay/compare/verdict.js'

const margin = 0.05
const tasksOfASession = 4

/** Sizes of sessions: all equal, geometric with mean 4, Pareto with a few that hold most tasks. */
const sizes = {
  equal: () => tasksOfASession,
  geometric: (random) => 1 + Math.floor(Math.log(1 - random()) / Math.log(0.75)),
  pareto: (random) => Math.min(200, Math.ceil((1 - random()) ** (-1 / 1.2) - 1 + 1e-9) || 1),
}

/** What a task's difference is where there is none: of two binary scores with a chance by session and task, or a session effect with noise. */
const outcomes = {
  binary: {
    session: (random) => normal(random),
    task: (random, effect) => {
      const chance = 1 / (1 + Math.exp(-(effect + 0.7 * normal(random))))
      return (random() < chance ? 1 : 0) - (random() < chance ? 1 : 0)
    },
  },
  'session effects': {
    session: (random) => 0.5 * normal(random),
    task: (random, effect) => effect + normal(random),
  },
}

function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

/** The share of experiments whose verdict is better or worse. `shift` is added to every difference. */
function found({ sessions, size, outcome, experiments, seed, shift = 0 }) {
  const random = seededRandom(seed)
  const { session, task } = outcomes[outcome]
  let count = 0
  for (let experiment = 0; experiment < experiments; experiment++) {
    const deltas = []
    const sessionOf = []
    for (let number = 0; number < sessions; number++) {
      const effect = session(random)
      for (let left = sizes[size](random); left > 0; left--) {
        deltas.push(task(random, effect) + shift)
        sessionOf.push(number)
      }
    }
    const { word } = verdictOf(estimate(deltas, sessionOf), margin)
    if (word === 'better' || word === 'worse') count += 1
  }
  return count / experiments
}

function designs(experiments) {
  const nulls = [12, 30, 100].flatMap((sessions) =>
    Object.keys(sizes).flatMap((size) =>
      Object.keys(outcomes).map((outcome, at) => ({
        kind: 'null',
        sessions,
        size,
        outcome,
        experiments,
        seed: sessions * 1000 + size.length * 10 + at,
        band: size === 'pareto' ? [0, 0.07] : [0.04, 0.06],
      })),
    ),
  )
  const power = [30, 100].map((sessions) => {
    const standardError = Math.sqrt((0.25 + 1 / tasksOfASession) / sessions)
    const shift = (tQuantile(0.975, sessions - 1) + tQuantile(0.8, sessions - 1)) * standardError
    return {
      kind: 'power',
      sessions,
      size: 'equal',
      outcome: 'session effects',
      experiments: 2000,
      seed: sessions,
      shift,
      band: [0.77, 0.83],
    }
  })
  return [...nulls, ...power]
}

function inWorker(design) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: design })
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

if (isMainThread) {
  const experiments = Number(process.argv[2] ?? 20_000)
  const todo = designs(experiments)
  const results = []
  const lane = async () => {
    for (let design = todo.shift(); design; design = todo.shift()) {
      const share = await inWorker(design)
      const { kind, sessions, size, outcome, band } = design
      const inside = share >= band[0] && share <= band[1]
      results.push({ kind, sessions, size, outcome, share, band, inside })
      const what = kind === 'null' ? 'A/A: better or worse in' : 'a real difference, the smallest that it should find: found in'
      process.stdout.write(
        `${inside ? ' ' : '!'} ${sessions} sessions, ${size}, ${outcome}; ${what} ${(share * 100).toFixed(2)} % (${band.map((end) => Math.round(end * 100)).join(' to ')} %)\n`,
      )
    }
  }
  await Promise.all([lane(), lane()])
  const range = (kind, pareto) => {
    const shares = results.filter((item) => item.kind === kind && (item.size === 'pareto') === pareto).map((item) => item.share)
    return [Math.min(...shares), Math.max(...shares)]
  }
  const outside = results.filter((item) => !item.inside).length
  process.stdout.write(
    `${JSON.stringify({ experiments, falseVerdicts: range('null', false), falseVerdictsPareto: range('null', true), power: range('power', false), outside, designs: results })}\n`,
  )
  process.exitCode = outside === 0 ? 0 : 1
} else {
  parentPort.postMessage(found(workerData))
}
