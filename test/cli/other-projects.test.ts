// Every command that reads the store, told one project while another has rows of the same trace, session, user and names.
import fs from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../store/index.ts'
import { homegroundCommand } from '../support/command.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { filesUnder } from '../support/files-under.ts'
import { alike, bankTrace, insertTwoProjects, secret, sharedTrace } from '../support/two-projects.ts'

const conditions = ['agent', 'model', 'session', 'user', 'tool', 'run', 'source'] as const
const [everyCondition, everyPair] = [
  conditions.flatMap((name) => [`--${name}`, alike[name]]),
  conditions.map((name) => `${name}=${alike[name]}`).join(','),
]

/** The command, and what shows that it found the project's own. */
const commands: [args: readonly string[], shows: string][] = [
  [['traces', 'list', 'shop'], sharedTrace],
  [['traces', 'list', 'shop', ...everyCondition, '--tag', 'plan=pro'], sharedTrace],
  [['traces', 'show', sharedTrace, '--project', 'shop'], 'for everybody'],
  [['traces', 'show', sharedTrace.slice(0, 31), '--project', 'shop'], 'for everybody'],
  [['env', 'build', 'all', '--project', 'shop', '--out', 'all'], 'all'],
  [['env', 'build', 'some', '--project', 'shop', '--out', 'some', ...everyCondition, '--feedback', 'thumb=true', '--sample', '5'], 'some'],
  [['erase', '--project', 'shop', '--user', alike.user], '"spans":3'],
  [['erase', '--project', 'shop', '--session', alike.session], '"spans":3'],
  [['erase', '--project', 'shop', '--trace', sharedTrace], '"spans":3'],
  [['compare', '--episodes', `project=shop,${everyPair},feedback.thumb=true`, '--by', 'tags.team'], 'the arms are for everybody'],
  [['retention', 'list'], '[]'],
  // Last: it takes away what the others read.
  [['erase', '--project', 'shop', '--user', alike.user, '--yes'], '"erased":true'],
]

describe.skipIf(engineIsMissing)('a command that is told a project', { timeout: 180_000 }, () => {
  const engine = useEngine()
  const work = path.join(engine.folder, 'work')
  const run = (args: readonly string[]) => homegroundCommand(['--json', ...args], { HOMEGROUND_FOLDER: engine.folder }, { cwd: work })
  beforeAll(async () => {
    if (engineIsMissing) return
    fs.mkdirSync(work, { recursive: true })
    const store = await openStore({ folder: engine.folder, environment: {} })
    await insertTwoProjects(store)
    await store.close()
  })

  test.each(commands)('%j shows and writes nothing of another', async (args, shows) => {
    const { stdout, stderr } = await run(args)
    const files = Object.keys(filesUnder(work)).filter((name) => !name.endsWith('/'))
    const written = files.map((file) => fs.readFileSync(path.join(work, file), 'utf8'))
    expect(stdout + stderr).toContain(shows)
    for (const text of [stdout, stderr, ...written]) {
      expect(text).not.toContain(secret)
      expect(text).not.toContain(bankTrace)
    }
  })

  test('finds nothing of a trace that another alone has', async () => {
    for (const args of [
      ['traces', 'show', bankTrace, '--project', 'shop'],
      ['traces', 'show', bankTrace.slice(0, 31), '--project', 'shop'],
      ['env', 'build', 'none', '--project', 'shop', '--out', 'none'],
    ])
      expect((await run(args)).stderr, args.join(' ')).not.toContain(secret)
    const none = await run(['erase', '--project', 'shop', '--trace', bankTrace, '--yes'])
    expect(JSON.parse(none.stdout)).toMatchObject({ traces: [], spans: 0, feedback: 0 })
  })

  test('has left the other project whole, and a trace of two is shown whole to whoever names no project', async () => {
    const lines = (text: string) => text.split('\n').filter(Boolean)
    const { stdout } = await run(['traces', 'show', sharedTrace])
    expect(lines(stdout).map((line) => (JSON.parse(line) as { project: string }).project)).toEqual(['bank'])
    const store = await openStore({ folder: engine.folder, environment: {} })
    expect((await store.spans('bank', [sharedTrace, bankTrace])).length).toBe(6)
    await insertTwoProjects(store)
    await store.close()
    const both = await run(['traces', 'show', sharedTrace])
    expect(lines(both.stdout).map((line) => (JSON.parse(line) as { project: string }).project)).toEqual(['bank', 'shop'])
  })
})
