// How fast rollouts go when the model takes no time, how long a build takes, and how much memory both need as tasks grow a hundredfold.
// `npm run bench:replay [-- --sweep 1000,10000,100000]`. Each figure is taken in a process of its own. Last line: JSON; exit 1 where a promise is not kept.
//   real   the 200 recorded airline episodes, harness `loop`: the endpoint is a function that answers with what the recording says, as JSON text, so a request is
//          written, sent, answered, read, played on the tape, recorded, scored and stored as with any endpoint, but for the wait
//   spans  the same episodes again and again under other ids, as a file, until they hold 100,000 spans: one build
//   sweep  made-up tasks of two model calls and one tool call: build and rollouts at each size, with the peak of the process's memory (resident, from its start), and
//          what of the heap was in use after full collections (0: there was none). Each process has built or played 1,000 tasks twenty times over before: what is
//          compared are processes whose heap has its full size, not a long run with one that ended before. What grows then is what is held for each task:
//          `…HeldBytesPerTask`, the difference of the peaks by that of the tasks
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const part = fileURLToPath(new URL('part.mjs', import.meta.url))
const sizes = (option('--sweep') ?? '1000,10000,100000').split(',').map(Number)
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-bench-replay-'))
try {
  const real = measure('real', '5')
  console.log(`real episodes: ${real.rollouts} rollouts (${real.modelCalls} model calls, ${real.onTape} on the tape) in ${real.seconds} s`)
  const spans = measure('spans', '100000')
  console.log(`build of ${spans.spans} spans (${spans.episodes} episodes): ${spans.seconds} s, peak ${spans.peakMb} MB`)
  const sweep = sizes.map((size) => {
    const build = measure('sweep-build', String(size))
    const run = measure('sweep-run', String(size))
    const { seconds: buildSeconds, peakMb: buildPeakMb, liveMb: buildLiveMb } = build
    const { seconds: runSeconds, peakMb: runPeakMb, liveMb: runLiveMb } = run
    return { tasks: size, buildSeconds, buildPeakMb, buildLiveMb, runSeconds, runPeakMb, runLiveMb }
  })
  console.table(sweep)
  const growth = (name) => Number((sweep.at(-1)[name] / sweep[0][name]).toFixed(2))
  const held = (name) => Math.round(((sweep.at(-1)[name] - sweep[0][name]) * 2 ** 20) / (sweep.at(-1).tasks - sweep[0].tasks))
  const result = {
    rolloutsPerSecond: real.rolloutsPerSecond,
    modelCallsPerSecond: real.modelCallsPerSecond,
    buildSecondsPer100kSpans: spans.seconds,
    peakMbPer100kSpans: spans.peakMb,
    buildMemoryGrowth: growth('buildPeakMb'),
    runMemoryGrowth: growth('runPeakMb'),
    buildHeldBytesPerTask: held('buildPeakMb'),
    runHeldBytesPerTask: held('runPeakMb'),
    sweep,
  }
  if (result.rolloutsPerSecond < 200 || result.buildSecondsPer100kSpans >= 60) process.exitCode = 1
  console.log(JSON.stringify(result))
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}

function measure(name, size) {
  const done = spawnSync(process.execPath, [part, name, size, folder], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  if (done.status !== 0) throw new Error(`${name} ended with ${done.status ?? done.signal}`)
  return JSON.parse(done.stdout.trim().split('\n').at(-1))
}

function option(name) {
  const at = process.argv.indexOf(name)
  return at === -1 ? undefined : process.argv[at + 1]
}
