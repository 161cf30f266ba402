// What the demo runs on: commands and background processes as a user would start them, in one folder, each shown before it runs, and all of them ended at the end, whatever happens.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

export class DemoError extends Error {
  name = 'DemoError'
}

/** `folder`: where commands run and logs lie. `root`: the repository. */
export function createStage({ root, folder }) {
  const children = new Set()
  let ending = false

  /** Runs `homeground …`; resolves with its stdout. Shows the command, and its output where `shows` is set. `answers`: exit codes that are answers, not failures. */
  async function homeground(args, { shows = true, answers = [0] } = {}) {
    say(`  $ npx homeground ${args.map(quoted).join(' ')}`)
    const child = begin(process.execPath, [path.join(root, 'dist', 'cli', 'main.js'), ...args], {})
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text
    })
    const code = await ended(child)
    if (ending) throw new DemoError('interrupted')
    if (!answers.includes(code)) throw new DemoError(`homeground ${args.join(' ')} ended with ${code}\n${stdout}${stderr}`)
    if (shows) say(indented(stdout.trimEnd(), 30))
    return stdout
  }

  /** Starts a program that keeps running; resolves with the match when it has printed `ready`. Its output goes to NAME.log. */
  function start(name, args, { env = {}, ready, waitMs = 60_000 }) {
    const log = fs.createWriteStream(path.join(folder, `${name}.log`))
    const child = begin(process.execPath, args, env)
    return new Promise((resolve, reject) => {
      let output = ''
      const fail = (what) => {
        clearTimeout(timer)
        reject(new DemoError(`${name} ${what}\n${output.slice(-2_000)}`))
      }
      const timer = setTimeout(() => fail(`was not ready after ${waitMs / 1000} s; so far it printed:`), waitMs)
      const hear = (text) => {
        log.write(text)
        output += text
        const match = ready.exec(output)
        if (match === null) return
        clearTimeout(timer)
        resolve({ match, stop: () => stop(child) })
      }
      child.stdout.setEncoding('utf8').on('data', hear)
      child.stderr.setEncoding('utf8').on('data', hear)
      child.once('error', (error) => fail(error.message))
      child.once('exit', (code) => fail(`ended early with ${code}:`))
    })
  }

  function begin(command, args, env) {
    const child = spawn(command, args, { cwd: folder, env: { ...process.env, ...env, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe'] })
    children.add(child)
    child.once('close', () => children.delete(child))
    return child
  }

  /** Asks all that is still running to end, and waits for it. */
  async function end() {
    ending = true
    await Promise.all([...children].reverse().map(stop))
  }

  return { homeground, start, end }
}

/** SIGTERM, and after ten seconds SIGKILL. */
async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = ended(child)
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
  await gone
  clearTimeout(timer)
}

function ended(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? signal))
  })
}

export function say(text) {
  process.stdout.write(`${text}\n`)
}

function indented(text, most) {
  const lines = text.split('\n')
  const shown = lines.length > most ? [...lines.slice(0, most), `… ${lines.length - most} more lines`] : lines
  return shown.map((line) => `    ${line}`).join('\n')
}

function quoted(argument) {
  return /^[\w@%+=:,./#-]+$/.test(argument) ? argument : `'${argument}'`
}
