// A trace whose every name and text is an attack: the commands print it as text that a terminal does not obey, and pages hold it as text that a browser does not run.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { collectorOn } from '../support/collector.ts'
import { homegroundCommand } from '../support/command.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { filesUnder } from '../support/files-under.ts'
import { epoch } from '../support/otlp.ts'
import { spanId, traceId } from '../support/span-rows.ts'

/** Escapes and their eight-bit forms, a bell, a carriage return, a turn of the writing's direction, markup, SQL, a path, and a name of every object. */
const evil = "\u001b[31m\u001b]0;title\u0007\u009b2J\r\n\u202e<script>alert(1)</script>'; DROP TABLE spans; --/../../etc/passwd __proto__"

const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } })

/** An agent's run: it asks the model, which calls a tool, which fails, and answers. */
function run(n: number): object[] {
  const at = (ms: number) => String(epoch + BigInt(n * 1_000 + ms) * 1_000_000n)
  const span = (id: number, from: number, to: number, given: Record<string, string>) => ({
    traceId: traceId(n),
    spanId: spanId(n * 16 + id),
    ...(id === 0 ? {} : { parentSpanId: spanId(n * 16) }),
    name: evil,
    startTimeUnixNano: at(from),
    endTimeUnixNano: at(to),
    attributes: Object.entries({
      'session.id': `${n} ${evil}`,
      'user.id': evil,
      'homeground.tag.arm': n % 2 === 0 ? evil : `other ${evil}`,
      [`homeground.tag.${evil}`]: evil,
      [evil]: evil,
      ...given,
    }).map(([key, value]) => attribute(key, value)),
    ...(id === 2 ? { status: { code: 2, message: evil } } : {}),
  })
  const call = { id: evil, type: 'function', function: { name: evil, arguments: JSON.stringify({ [evil]: evil }) } }
  const said = [
    { role: 'system', content: evil },
    { role: 'user', content: evil },
  ]
  const asked = { role: 'assistant', content: null, tool_calls: [call] }
  const tools = [
    { type: 'function', function: { name: evil, description: evil, parameters: { type: 'object', properties: { [evil]: {} } } } },
  ]
  const model = (messages: object[], message: object, finish: string) => ({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': evil,
    'gen_ai.request.model': evil,
    'homeground.api': 'openai.chat',
    'homeground.request.body': JSON.stringify({ model: evil, messages, tools }),
    'homeground.response.body': JSON.stringify({ id: evil, model: evil, choices: [{ index: 0, message, finish_reason: finish }] }),
  })
  return [
    span(0, 0, 9, {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': evil,
      'homeground.agent.input': JSON.stringify(evil),
      'homeground.agent.output': JSON.stringify(evil),
    }),
    span(1, 1, 2, model(said, asked, 'tool_calls')),
    span(2, 3, 4, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': evil,
      'gen_ai.tool.call.id': evil,
      'gen_ai.tool.call.arguments': JSON.stringify({ [evil]: evil }),
      'gen_ai.tool.call.result': evil,
      'error.type': evil,
    }),
    span(
      3,
      5,
      6,
      model([...said, asked, { role: 'tool', tool_call_id: evil, content: evil }], { role: 'assistant', content: evil }, 'stop'),
    ),
  ]
}

describe.skipIf(engineIsMissing)('a hostile trace', { timeout: 240_000 }, () => {
  const engine = useEngine()
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-hostile-')))
  afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

  beforeAll(async () => {
    if (engineIsMissing) return
    const collector = await collectorOn(await engine.openStore('homeground'))
    const send = async (route: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${collector.url}/v1/${route}`, { method: 'POST', headers, body: JSON.stringify(body) })
      expect(await response.json()).toEqual(route === 'traces' ? {} : { accepted: 72 })
    }
    const traces = Array.from({ length: 24 }, (_, n) => n + 1)
    for (const project of [evil, 'shop']) {
      const resource = { attributes: [attribute('homeground.project', project)] }
      await send('traces', { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: evil }, spans: traces.flatMap(run) }] }] })
      const feedback = traces.flatMap((n) => [
        { project, traceId: traceId(n), name: 'reward', value: n % 3 === 0 ? 1 : 0, comment: evil, source: evil },
        { project, traceId: traceId(n), name: evil, value: n % 2 === 0 },
        { project, traceId: traceId(n), name: `said ${evil}`, value: evil },
      ])
      await send('feedback', { feedback })
    }
    await collector.close()
  })

  test('is shown inert by every command that prints it, and by every page', async () => {
    const commands = [
      ['traces', 'list'],
      ['traces', 'list', evil],
      ['traces', 'list', 'shop', '--user', evil],
      ['traces', 'show', traceId(1)],
      ['traces', 'show', traceId(1), '--project', `not ${evil}`],
      ['traces', 'list', `not ${evil}`],
      ['env', 'build', 'desk', '--project', evil, '--harness', 'loop'],
      ['env', 'show', 'desk'],
      ['env', 'verify', 'desk'],
      ['env', 'audit', 'desk'],
      ['env', 'diff', 'desk', 'desk'],
      ['grade', 'desk', '--against', 'reward'],
      ['label', 'desk'],
      ['dataset', 'desk', '--format', 'openai-sft', '--out', 'rows.jsonl'],
      ['compare', '--episodes', 'project=shop', '--by', 'tags.arm', '--out', 'report'],
      ['compare', '--episodes', 'project=shop', '--by', `tags.${evil}`],
      ['retention', 'set', evil, '36500'],
      ['retention', 'list'],
      ['keys', 'create', evil, '--project', evil],
      ['keys', 'list'],
      ['keys', 'revoke', evil],
      ['import', evil, '--format', 'episode'],
      ['import', 'rows.jsonl', '--format', evil],
      ['restore', evil, '--folder', 'elsewhere'],
      ['erase', '--project', evil, '--user', evil],
      ['erase', '--project', evil, '--trace', evil],
      ['erase', '--project', evil, '--user', evil, '--yes'],
    ]
    const faults: unknown[] = []
    for (const args of commands) {
      const { code, stdout, stderr } = await homegroundCommand(args, { HOMEGROUND_FOLDER: engine.folder }, { cwd: folder })
      const obeyed = `${stdout}${stderr}`.match(/[^\n\t\P{Cc}]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu)
      // 3 would be a fault of ours.
      if (obeyed !== null || code === null || code === 3) faults.push([args.slice(0, 2), code, obeyed, stderr])
    }
    expect(faults).toEqual([])
    const pages = Object.keys(filesUnder(folder)).filter((name) => name.endsWith('.html'))
    expect(pages.length).toBe(2)
    for (const page of pages) expect(fs.readFileSync(path.join(folder, page), 'utf8'), page).not.toContain('<script>alert')
  })
})
