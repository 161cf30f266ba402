// Every code block of the pages that users read runs, offline: shell blocks in one folder from top to bottom, TypeScript blocks compiled strictly and run against a model server and a collector.
// A block that CI runs by another way says so in a comment above it: <!-- checked by FILE -->.
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { startModelServer } from '@homeground/sdk/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { engineIsMissing } from '../support/engine.ts'
import { projectRoot, readProjectFile } from '../support/project-files.ts'

const run = promisify(execFile)
const pages = [
  'README.md',
  'sdk/README.md',
  'docs/sdk/testing.md',
  'examples/support-desk/README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'docs/errors.md',
]

interface Block {
  page: string
  line: number
  language: string
  text: string
  checkedBy: string | undefined
}

const blocks = pages.flatMap(blocksOf)
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true })
})

describe('code blocks', () => {
  it('are in a language that is run, or plain text', () => {
    expect(blocks.filter(({ language }) => !['sh', 'ts', 'text'].includes(language)).map(({ page, line }) => `${page}:${line}`)).toEqual([])
  })

  it('that name another check name one that is there', () => {
    expect(
      blocks
        .flatMap(({ checkedBy }) => (checkedBy === undefined ? [] : [checkedBy]))
        .filter((file) => !fs.existsSync(path.join(projectRoot, file))),
    ).toEqual([])
  })

  const toRun = (language: string) => blocks.filter((block) => block.language === language && block.checkedBy === undefined)

  it.each(toRun('ts'))('$page:$line compiles, runs, and is recorded', { timeout: 120_000 }, async ({ text }) => {
    const folder = folderIn(path.join(projectRoot, '.homeground'))
    fs.writeFileSync(path.join(folder, 'block.ts'), text)
    fs.writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}')
    fs.writeFileSync(
      path.join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: path.join(projectRoot, 'tsconfig.json'),
        compilerOptions: { noEmit: false, outDir: '.', rootDir: '.', paths: {}, noUnusedLocals: false },
        include: ['block.ts'],
      }),
    )
    await run(process.execPath, [path.join(projectRoot, 'node_modules/typescript/bin/tsc'), '-p', folder])
    await using models = await startModelServer({ policy: ({ body }) => answerWithTools(body) })
    const collector = await startSink()
    try {
      await run(process.execPath, ['block.js'], {
        cwd: folder,
        timeout: 60_000,
        env: { ...process.env, OPENAI_BASE_URL: models.url, OPENAI_API_KEY: 'none', HOMEGROUND_ENDPOINT: collector.url },
      })
    } finally {
      await collector.close()
    }
    // A block that brings its own server checks itself.
    if (text.includes('startModelServer')) return
    expect({ asked: models.requests.length > 0, recorded: collector.paths.has('/v1/traces') }).toEqual({ asked: true, recorded: true })
  })

  describe.skipIf(engineIsMissing)('in shell', () => {
    it.each(pages.filter((page) => toRun('sh').some((block) => block.page === page)))(
      'of %s run one after the other',
      { timeout: 300_000 },
      async (page) => {
        const folder = folderIn(os.tmpdir())
        // What a reader has before them: the repository, and `npx homeground`.
        for (const name of ['examples', 'docs', 'package.json']) fs.symlinkSync(path.join(projectRoot, name), path.join(folder, name))
        fs.mkdirSync(path.join(folder, 'bin'))
        fs.writeFileSync(
          path.join(folder, 'bin', 'npx'),
          `#!/bin/sh\nshift\nexec '${process.execPath}' '${path.join(projectRoot, 'dist/cli/main.js')}' "$@"\n`,
          { mode: 0o755 },
        )
        for (const { text, line } of toRun('sh').filter((block) => block.page === page)) {
          const done = await run('bash', ['-euo', 'pipefail', '-c', text], {
            cwd: folder,
            env: { ...process.env, PATH: `${path.join(folder, 'bin')}:${process.env['PATH']}` },
          }).catch((error: { stdout: string; stderr: string }) => ({ failed: `${page}:${line}\n${error.stdout}${error.stderr}` }))
          expect(done).not.toHaveProperty('failed')
        }
      },
    )
  })
})

function blocksOf(page: string): Block[] {
  const text = readProjectFile(page)
  return [...text.matchAll(/(?:<!-- checked by (\S+) -->\n\n)?^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    language: match[2] ?? '',
    text: match[3] ?? '',
    checkedBy: match[1],
  }))
}

function folderIn(parent: string): string {
  fs.mkdirSync(parent, { recursive: true })
  const folder = fs.mkdtempSync(path.join(parent, 'code-blocks-'))
  folders.push(folder)
  return folder
}

/** Calls the first tool once, with a value for each of its string arguments; then answers. */
function answerWithTools(body: { readonly [key: string]: unknown }) {
  const { messages, tools } = body as {
    messages: { role: string }[]
    tools?: { function: { name: string; parameters: { properties?: Record<string, unknown> } } }[]
  }
  const tool = tools?.[0]?.function
  if (tool === undefined || messages.some(({ role }) => role === 'tool')) return 'It is clear in Bath.'
  return {
    toolCalls: [
      { name: tool.name, arguments: Object.fromEntries(Object.keys(tool.parameters.properties ?? {}).map((key) => [key, 'Bath'])) },
    ],
  }
}

/** Takes whatever is sent to it. */
async function startSink(): Promise<{ url: string; paths: Set<string>; close(): Promise<void> }> {
  const paths = new Set<string>()
  const server = http.createServer((request, response) => {
    paths.add(request.url ?? '')
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    paths,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
