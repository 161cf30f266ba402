// node --import @homeground/sdk/register: code that cannot be edited, in a process of its own.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { startModelServer } from '@homeground/sdk/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { decodeProtobufTraces } from '../../collector/ingest/traces-protobuf.ts'

const register = new URL('../../sdk/dist/register.js', import.meta.url).href
const openai = fileURLToPath(new URL('../../node_modules/openai/index', import.meta.url))
const sdk = new URL('../../sdk/dist/index.js', import.meta.url).href
const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function run(
  name: string,
  source: string,
  options: readonly string[] = ['--import', register],
  more: Record<string, string> = {},
): Promise<{ printed: string; said: string; spans: string[] }> {
  const spans: string[] = []
  const collector = http.createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      spans.push(...decodeProtobufTraces(Buffer.concat(parts)).spans.map((span) => span.name))
      response.end()
    })
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const address = collector.address()
  const model = await startModelServer({ policy: () => 'ok' })
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-register-'))
  closing.push(
    () => model.close(),
    () => void collector.close(),
    () => fs.rmSync(folder, { recursive: true, force: true }),
  )
  const file = path.join(folder, name)
  fs.writeFileSync(file, source)
  const { NODE_ENV: _, ...inherited } = process.env
  const environment = {
    ...inherited,
    HOMEGROUND_ENDPOINT: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    HOMEGROUND_PROJECT: 'p',
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'k',
    ...more,
  }
  const child = spawn(process.execPath, [...options, file], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  let said = ''
  child.stdout.on('data', (data) => {
    printed += data
  })
  child.stderr.on('data', (data) => {
    said += data
  })
  await new Promise((resolve) => child.once('close', resolve))
  return { printed, said, spans }
}

const ask = "client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })"

describe('register', () => {
  it('records an untouched ES module, and delivers before the process ends', async () => {
    const source = `import OpenAI from ${JSON.stringify(`${openai}.mjs`)}\nconst client = new OpenAI()\nconsole.log((await ${ask}).choices[0].message.content)`
    expect(await run('app.mjs', source)).toEqual({ printed: 'ok\n', said: '', spans: ['chat m'] })
  })

  it('records untouched CommonJS', async () => {
    const source = `const OpenAI = require(${JSON.stringify(`${openai}.js`)})\nconst client = new OpenAI()\n${ask}.then((answer) => console.log(answer.choices[0].message.content))`
    expect(await run('app.cjs', source)).toEqual({ printed: 'ok\n', said: '', spans: ['chat m'] })
  })

  it('does no harm where the names for its project are empty', async () => {
    const source = `import OpenAI from ${JSON.stringify(`${openai}.mjs`)}\nconst client = new OpenAI()\nconsole.log((await ${ask}).choices[0].message.content)`
    const empty = { HOMEGROUND_PROJECT: '', OTEL_SERVICE_NAME: ' ', npm_package_name: '' }
    expect(await run('app.mjs', source, undefined, empty)).toEqual({ printed: 'ok\n', said: '', spans: ['chat m'] })
  })

  it('together with wrap and hg.fetch records each call once', async () => {
    const source = `import OpenAI from ${JSON.stringify(`${openai}.mjs`)}\nimport { homeground } from ${JSON.stringify(sdk)}\nconst hg = homeground({ project: 'p' })\nconst client = hg.wrap(new OpenAI())\nawait ${ask}\nawait hg.fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST', body: JSON.stringify({ model: 'f', messages: [] }) }).then((response) => response.json())`
    expect((await run('app.mjs', source)).spans.toSorted()).toEqual(['chat f', 'chat m'])
  })

  it('says what to do when no model call was seen', async () => {
    const ended = await run('app.mjs', "await fetch(process.env.HOMEGROUND_ENDPOINT + '/elsewhere')")
    expect(ended.said).toMatch(/^homeground: nothing was recorded\. .*homeground doctor.*\n$/)
    expect(ended.spans).toEqual([])
  })

  it('without it a product that forgot to wrap its client is told, and one that records nothing for a reason is not', async () => {
    const source = (rest: string) => `import { homeground } from ${JSON.stringify(sdk)}\n${rest}`
    const forgot = await run('app.mjs', source("homeground({ project: 'p' })"), [])
    expect(forgot.said).toMatch(/^homeground: nothing was recorded\. .*hg\.wrap.*\n$/)
    const used = await run('app.mjs', source("await homeground({ project: 'p' }).agent('a', async () => 1)()"), [])
    const off = await run('app.mjs', source("homeground({ project: 'p', enabled: false })"), [])
    const failed = await run('app.mjs', source("homeground({ project: 'p' })\nprocess.exitCode = 1"), [])
    expect([used.said, off.said, failed.said]).toEqual(['', '', ''])
  })

  it('a product that ends at once after a call is told what it did not wait for', async () => {
    const source = `import { homeground } from ${JSON.stringify(sdk)}\nconst hg = homeground({ project: 'p' })\nawait hg.agent('a', async () => 1)()\nprocess.exit(0)`
    const { said, spans } = await run('app.mjs', source, [])
    expect({ said, spans }).toEqual({
      said: 'homeground: 1 of 1 spans are lost: the process was ended before they were sent. Await hg.flush() before process.exit()\n',
      spans: [],
    })
  })

  it('a product with a spool that ends at once after a call has kept its spans there for the next start', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-spool-'))
    closing.push(() => fs.rmSync(folder, { recursive: true, force: true }))
    const source = `import { homeground } from ${JSON.stringify(sdk)}\nconst hg = homeground({ project: 'p', spool: { folder: ${JSON.stringify(folder)} } })\n`
    const first = await run('app.mjs', `${source}for (const name of ['a', 'b']) await hg.agent(name, async () => 1)()\nprocess.exit(1)`, [])
    expect(first).toMatchObject({ said: '', spans: [] })
    const next = await run('app.mjs', `${source}await hg.shutdown()`, [])
    expect([...new Set(next.spans)]).toEqual(['invoke_agent a', 'invoke_agent b'])
    expect(fs.readdirSync(folder)).toEqual([])
  })

  it('a product whose collector is away is told how many spans are lost, and to whom they went', async () => {
    const source = `import { homeground } from ${JSON.stringify(sdk)}\nconst hg = homeground({ project: 'p', endpoint: 'http://127.0.0.1:9' })\nawait hg.agent('a', async () => 1)()\n`
    const lost = /^homeground: 1 of 1 spans are lost: the collector at http:\/\/127\.0\.0\.1:9 did not take them\..*homeground up.*\n$/
    expect((await run('app.mjs', `${source}await hg.shutdown()\nconsole.log(JSON.stringify(hg.stats()))`, [])).said).toMatch(lost)
    expect((await run('app.mjs', source, [])).said).toMatch(lost)
    expect((await run('app.mjs', `${source}await hg.flush()\nprocess.exit(3)`, [])).said).toMatch(lost)
  })
})
