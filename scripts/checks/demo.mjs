// The demo as a newcomer runs it, twice: it ends well, makes what it says, the second time too, and leaves nothing running.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { check, root } from './empty-app.mjs'

const folder = path.join(root, '.homeground', 'demo')
/** What the page promises; `DEMO_SECONDS` for machines that do other work beside it. */
const seconds = Number(process.env.DEMO_SECONDS ?? 180)

for (const time of ['first', 'second']) {
  const start = Date.now()
  const { status, stdout } = spawnSync('npm', ['run', '--silent', 'demo'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const took = (Date.now() - start) / 1000
  if (status !== 0) process.stdout.write(stdout)
  check(status === 0, `the ${time} demo ends well`)
  check(took <= seconds, `it takes ${took.toFixed(0)} s, at most ${seconds}`)
  check(/60 sessions, 96 messages, 95 rated helpful, 0 without an answer/.test(stdout), 'sixty customers were answered')
  check(/desk: 96 of 96 tasks reproduced/.test(stdout), 'every task of the desk is reproduced')
  check(/BETTER \(.*\): production is better than novice/.test(stdout), 'the better of the two models is found better')
  check(/stored 200 episodes \(2454 model calls/.test(stdout), 'the 200 real episodes are stored with their 2,454 model calls')
  check(/airline: 200 of 200 tasks reproduced .* 0 calls off the tape/.test(stdout), 'every real episode is reproduced, none off the tape')
  check(/agrees with reward on (19[7-9]|200) of 200/.test(stdout), 'our grader agrees with the published reward on at least 197 of 200')
  check(/^ +(INCONCLUSIVE|EQUIVALENT) .*2\+3/m.test(stdout), 'an A/A comparison finds no better and no worse')
  for (const file of ['desk/env.json', 'airline/tasks.jsonl', 'runs/models/report.html', 'desk.trl-sft.jsonl', 'desk.openai-sft.jsonl']) {
    check(fs.statSync(path.join(folder, file)).size > 0, `${file} is there`)
  }
  const left = await leftRunning()
  check(left.length === 0, `nothing is left running${left.map((command) => `\n  ${command}`).join('')}`)
}

/** Our processes that still run fifteen seconds later; Linux only. */
async function leftRunning() {
  for (let attempt = 0; ; attempt += 1) {
    const running = fs.existsSync('/proc')
      ? fs
          .readdirSync('/proc')
          .filter((entry) => /^\d+$/.test(entry))
          .map(commandOf)
          .filter(isOurs)
      : []
    if (running.length === 0 || attempt === 15) return running
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
}

function commandOf(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

function isOurs(command) {
  return ['dist/store/embedded', 'dist/cli/main.js', 'examples/support-desk/dist'].some((part) => command.includes(path.join(root, part)))
}
