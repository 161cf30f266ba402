// Writes docs/sdk/reference.md from the declarations that the SDK is published with: what its entries export, with the doc comments. `--check` says whether the
// page is current, which exports have no comment, and which types they name that no entry exports. Run it after scripts/build.mjs.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { exportsOf, undescribed } from './declarations.mjs'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const page = path.join(root, 'docs', 'sdk', 'reference.md')
const entries = [
  ['@homeground/sdk', 'index', 'What a product imports.'],
  ['@homeground/sdk/testing', 'testing/index', 'A model server and a memory exporter, for tests.'],
  ['@homeground/sdk/seam', 'run/index', 'What a replay needs. Products do not import it.'],
  ['@homeground/sdk/spool', 'export/claim-spool', 'What waits in a spool, for programs that look through it. Products do not import it.'],
  ['@homeground/sdk/trace', 'trace/index', 'What an episode is: for programs that read, write or translate episodes.'],
]

const sections = entries.map(([name, file, says]) => ({ name, says, exports: exportsOf(path.join(root, 'sdk', 'dist', `${file}.d.ts`)) }))
const uncommented = sections.flatMap(({ name, exports }) =>
  exports.filter(({ comment }) => comment === '').map((each) => `${name}: ${each.name}`),
)
const unnamed = undescribed(sections.flatMap(({ exports }) => exports))
const text = written(sections)

if (!process.argv.includes('--check')) fs.writeFileSync(page, text)
else if (uncommented.length > 0) fail(`these exports have no doc comment:\n  ${uncommented.join('\n  ')}`)
else if (unnamed.length > 0) fail(`these types are named by exports, but no entry exports them:\n  ${unnamed.join('\n  ')}`)
else if (!fs.existsSync(page) || fs.readFileSync(page, 'utf8') !== text)
  fail('docs/sdk/reference.md is not current; mend: node scripts/reference.mjs')

function fail(message) {
  process.stderr.write(`reference: ${message}\n`)
  process.exitCode = 1
}

function written(all) {
  const head = `# SDK reference

Made by \`node scripts/reference.mjs\` from the published declarations; do not edit it. How things are used: [recording a product](README.md), [testing](testing.md).
`
  const parts = all.map(
    ({ name, says, exports }) =>
      `\n## ${name}\n\n${says}\n${exports.map((each) => `\n### \`${each.name}\`\n\n\`\`\`ts\n${each.text}\n\`\`\`\n`).join('')}`,
  )
  return head + parts.join('')
}
