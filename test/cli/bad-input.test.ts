// Bad input through the real command line: exit 2, a message with the place and what was expected, a hint with the next action, and nothing half-written.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Finished, homegroundCommand } from '../support/command.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { filesUnder } from '../support/files-under.ts'
import { until } from '../support/until.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true })
})

/** A folder of its own with these files, as the command's working folder. */
function folderWith(files: Readonly<Record<string, string | Buffer>> = {}): string {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-bad-input-')))
  folders.push(folder)
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    fs.writeFileSync(path.join(folder, name), content)
  }
  return folder
}

interface Refusal {
  message: RegExp
  hint: RegExp
  docs: string
}

function expectRefusal({ code, stdout, stderr }: Finished, { message, hint, docs }: Refusal): void {
  expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^error: /)
  expect(stderr).toMatch(message)
  expect(/^ {2}hint: (.*)$/m.exec(stderr)?.[1] ?? '').toMatch(hint)
  expect(/^ {2}docs: (.*)$/m.exec(stderr)?.[1]).toBe(`docs/errors.md#${docs}`)
  expect(stderr).not.toMatch(/\n\s+at .*:\d+:\d+/)
}

const chat = JSON.stringify({
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'yes?' },
  ],
})

const cases: {
  what: string
  args: string[]
  files?: Record<string, string | Buffer>
  variables?: Record<string, string>
  refusal: Refusal
}[] = [
  {
    what: 'an unknown command',
    args: ['frobnicate'],
    refusal: { message: /unknown command 'frobnicate'/, hint: /--help/, docs: 'invalid-argument' },
  },
  {
    what: 'an unknown option',
    args: ['traces', 'list', '--colour'],
    refusal: { message: /unknown option '--colour'/, hint: /--help/, docs: 'invalid-argument' },
  },
  {
    what: 'a wrong number',
    args: ['traces', 'list', 'shop', '--limit', 'many'],
    refusal: { message: /--limit.*many/, hint: /whole number/, docs: 'invalid-argument' },
  },
  {
    what: 'a wrong time',
    args: ['traces', 'list', 'shop', '--from', 'yesterday'],
    refusal: { message: /--from.*yesterday/, hint: /2026-01-31/, docs: 'invalid-argument' },
  },
  {
    what: 'a wrong port',
    args: ['up', '--port', '70000'],
    refusal: { message: /70000 is no port/, hint: /65535/, docs: 'invalid-argument' },
  },
  {
    what: 'a log level that is none',
    args: ['worker', '--env', '.'],
    variables: { HOMEGROUND_LOG_LEVEL: 'loud' },
    refusal: { message: /HOMEGROUND_LOG_LEVEL: /, hint: /set the variables/, docs: 'invalid-settings' },
  },
  {
    what: 'a file of prices that is none',
    args: ['worker', '--env', '.'],
    files: { 'prices.json': '[]' },
    // Before the brokers are asked.
    variables: { HOMEGROUND_PRICES: 'prices.json', HOMEGROUND_KAFKA_BROKERS: '127.0.0.1:9' },
    refusal: { message: /prices\.json/, hint: /./, docs: 'invalid-settings' },
  },
  {
    what: 'a rule for no project',
    args: ['retention', 'set', '', '30'],
    refusal: { message: /the project is empty/, hint: /traces list/, docs: 'invalid-argument' },
  },
  {
    what: 'a wrong format name',
    args: ['import', 'some.jsonl', '--format', 'eposide'],
    files: { 'some.jsonl': '{}\n' },
    refusal: { message: /"eposide"/, hint: /episode, openai-messages, tau-bench/, docs: 'unknown-format' },
  },
  {
    what: 'a file that is not there',
    args: ['import', 'nope.jsonl', '--format', 'episode'],
    refusal: { message: /nope\.jsonl does not exist/, hint: /path/, docs: 'not-found' },
  },
  {
    what: 'a folder for a file',
    args: ['import', 'folder', '--format', 'episode'],
    files: { 'folder/some.jsonl': '{}\n' },
    refusal: { message: /^error: folder /, hint: /file/, docs: 'invalid-input' },
  },
  {
    what: 'a broken line',
    args: ['import', 'chats.jsonl', '--format', 'openai-messages'],
    files: {
      'chats.jsonl': `${chat}\n{"messages": [\n`,
    },
    refusal: { message: /chats\.jsonl:2/, hint: /mend|line/, docs: 'invalid-input' },
  },
  {
    what: 'a line that is no episode',
    args: ['import', 'episodes.jsonl', '--format', 'episode'],
    files: { 'episodes.jsonl': '{"format":1}\n' },
    refusal: { message: /episodes\.jsonl:1.*id/, hint: /mend/, docs: 'invalid-input' },
  },
  {
    what: 'a file cut off in its gzip',
    args: ['import', 'cut.jsonl.gz', '--format', 'openai-messages'],
    files: { 'cut.jsonl.gz': gzipSync(Buffer.from(`${chat}\n`)).subarray(0, 30) },
    refusal: { message: /cut\.jsonl\.gz/, hint: /copy the file again/, docs: 'invalid-input' },
  },
]

describe.each(cases)('$what', ({ args, files, variables, refusal }) => {
  it('is refused with its place and the next action, and writes nothing', async () => {
    const folder = folderWith(files)
    const before = filesUnder(folder)
    expectRefusal(await homegroundCommand(args, variables, { cwd: folder }), refusal)
    expect(filesUnder(folder)).toEqual(before)
  })
})

it('says the same as one JSON line when asked to', async () => {
  const { code, stderr } = await homegroundCommand(['--json', 'import', 'nope.jsonl', '--format', 'episode'], {}, { cwd: folderWith() })
  expect({ code, said: JSON.parse(stderr) }).toEqual({
    code: 2,
    said: {
      error: {
        code: 'not-found',
        message: 'nope.jsonl does not exist',
        hint: 'check the path; it is relative to the current folder',
      },
    },
  })
})

describe.skipIf(engineIsMissing)('with a store', () => {
  const engine = useEngine()
  const inStore = () => ({ HOMEGROUND_FOLDER: engine.folder })
  let taken: net.Server

  beforeAll(async () => {
    taken = net.createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', () => resolve()))
  })
  afterAll(() => new Promise((resolve) => taken.close(resolve)))

  it('refuses a port that belongs to another process', async () => {
    const { port } = taken.address() as net.AddressInfo
    expectRefusal(await homegroundCommand(['up', '--port', String(port)], inStore()), {
      message: new RegExp(`port ${port} .*another process`),
      hint: /--port/,
      docs: 'port-in-use',
    })
  })

  it('stores nothing of a good file when the next one is broken', async () => {
    const cwd = folderWith({ 'good.jsonl': `${chat}\n`, 'bad.jsonl': `${`${chat}\n`.repeat(20)}{"messages": 7}\n` })
    const args = ['import', 'good.jsonl', 'bad.jsonl', '--format', 'openai-messages', '--project', 'half']
    expectRefusal(await homegroundCommand(args, inStore(), { cwd }), { message: /bad\.jsonl:21/, hint: /mend/, docs: 'invalid-input' })
    const { stdout } = await homegroundCommand(['traces', 'list', '--json'], inStore())
    expect((JSON.parse(stdout) as { project: string }[]).map(({ project }) => project)).not.toContain('half')
  })
})

describe.skipIf(engineIsMissing)('a folder', () => {
  it('that another process has locked is refused, and its lock is left alone', async () => {
    const folder = folderWith({ 'engine/clickhouse/status': 'PID: 1' })
    const status = path.join(folder, 'engine/clickhouse/status')
    const holder = spawn('flock', ['--no-fork', status, 'sleep', '60'], { stdio: 'ignore' })
    try {
      await until(
        () => isLocked(status),
        () => 'flock has not taken the lock',
      )
      expectRefusal(await homegroundCommand(['traces', 'list'], { HOMEGROUND_FOLDER: folder }), {
        message: new RegExp(`${path.join(folder, 'engine')}.*another process`),
        hint: /--folder.*do not delete the lock/,
        docs: 'engine-locked',
      })
      expect(fs.existsSync(status)).toBe(true)
    } finally {
      holder.kill('SIGKILL')
    }
  })

  it('that is a file is refused', async () => {
    const cwd = folderWith({ afile: '' })
    expectRefusal(await homegroundCommand(['traces', 'list', '--folder', 'afile'], {}, { cwd }), {
      message: /afile\/engine cannot be written/,
      hint: /--folder/,
      docs: 'folder-unwritable',
    })
  })
})

async function isLocked(file: string): Promise<boolean> {
  return await new Promise((resolve) => {
    spawn('flock', ['--nonblock', file, 'true'], { stdio: 'ignore' }).on('exit', (code) => resolve(code !== 0))
  })
}
