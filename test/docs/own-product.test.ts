// README's walk with a product of one's own, as it stands there: the agent of its example, recorded, replayed with two prompts, compared, made into rows.
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { type RecordedRequest, startModelServer } from '@homeground/sdk/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatBody } from '../support/chat-body.ts'
import { homegroundServer } from '../support/command.ts'
import { engineIsMissing } from '../support/engine.ts'
import { projectRoot, readProjectFile } from '../support/project-files.ts'

const run = promisify(execFile)
const readme = readProjectFile('README.md')
const section = readme.slice(readme.indexOf('## In your product'), readme.indexOf('## The loop, by hand'))
const blocks = [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({ language, text: text ?? '' }))
const block = (language: string, has: string) => {
  const found = blocks.find((one) => one.language === language && one.text.includes(has))
  if (found === undefined) throw new Error(`README shows no ${language} block with ${has}`)
  return found.text
}

/** Looks first; the longer its prompt, the longer it talks. */
function guide(request: RecordedRequest) {
  const { messages } = chatBody(request)
  if (messages.at(-1)?.role !== 'tool') return { toolCalls: [{ name: 'weather', arguments: { city: 'Bath' } }] }
  return messages[0]?.content?.includes('One sentence') ? 'It is clear.' : `It is clear in Bath today. ${'Do see the baths. '.repeat(5)}`
}

describe.skipIf(engineIsMissing)('a product of one’s own', { timeout: 300_000 }, () => {
  // Below the project, so that `openai`, `zod` and the SDK are found as installed packages are.
  fs.mkdirSync(path.join(projectRoot, '.homeground'), { recursive: true })
  const folder = fs.mkdtempSync(path.join(projectRoot, '.homeground', 'own-product-'))
  afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))
  const write = (name: string, text: string) => fs.writeFileSync(path.join(folder, name), text)

  beforeAll(async () => {
    const [agent = ''] = block('ts', 'export const agent').split('// In a file of its own')
    fs.mkdirSync(path.join(folder, 'source'))
    write('source/agent.ts', agent.replace('const hg =', 'export const hg ='))
    write(
      'source/serve.ts',
      `import { agent, hg } from './agent.ts'
for (let visit = 1; visit <= 8; visit++) await hg.session({ id: \`visit-\${visit}\` }, () => agent(\`What is the weather in Bath on day \${visit}?\`))
await hg.shutdown()
`,
    )
    write('package.json', '{"type":"module"}')
    write(
      'tsconfig.json',
      JSON.stringify({
        extends: path.join(projectRoot, 'tsconfig.json'),
        compilerOptions: {
          noEmit: false,
          rewriteRelativeImportExtensions: true,
          outDir: '.',
          rootDir: 'source',
          paths: {},
          noUnusedLocals: false,
        },
        include: ['source'],
      }),
    )
    write('arms.json', block('text', '"variants"'))
    write('rubric.json', block('text', '"criteria"'))
    await run(process.execPath, [path.join(projectRoot, 'node_modules/typescript/bin/tsc'), '-p', folder])
    fs.mkdirSync(path.join(folder, 'bin'))
    write('bin/npx', `#!/bin/sh\nshift\nexec '${process.execPath}' '${path.join(projectRoot, 'dist/cli/main.js')}' "$@"\n`)
    fs.chmodSync(path.join(folder, 'bin', 'npx'), 0o755)
  })

  it('goes from its first sessions to a verdict on two prompts and to training rows', async () => {
    await using models = await startModelServer({ policy: guide })
    const model = { OPENAI_BASE_URL: models.url, OPENAI_API_KEY: 'none' }
    const up = await homegroundServer(['up', '--folder', path.join(folder, '.homeground')])
    try {
      const env = { ...process.env, ...model, HOMEGROUND_ENDPOINT: up.url }
      const served = await run(process.execPath, ['serve.js'], { cwd: folder, env })
      expect(served).toEqual({ stdout: '', stderr: '' })
      const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', block('sh', 'env build guide')], {
        cwd: folder,
        env: { ...process.env, ...model, PATH: `${path.join(folder, 'bin')}:${process.env['PATH']}` },
      })
      expect(stdout).toMatch(/guide: 8 of 8 tasks reproduced/)
      expect(stdout).toMatch(/^BETTER \(.*\): short is better than now/m)
      const rows = fs.readFileSync(path.join(folder, 'rows.jsonl'), 'utf8').trim().split('\n')
      expect(rows.every((row) => row.includes('It is clear.'))).toBe(true)
    } finally {
      await up.stop()
    }
  })
})
