// Writes docs/sdk/reference.md from the declarations that the SDK is published with: what its entries export, with the doc comments. `--check` says whether the
// page is current, and which exports have no comment. Run it after scripts/build.mjs.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

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
const text = written(sections)

if (!process.argv.includes('--check')) fs.writeFileSync(page, text)
else if (uncommented.length > 0) fail(`these exports have no doc comment:\n  ${uncommented.join('\n  ')}`)
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

/** Every export of a declaration file, those that it passes on too, by name. */
function exportsOf(file) {
  const source = fs.readFileSync(file, 'utf8')
  const found = declarationsIn(source)
  for (const [, names, from] of source.matchAll(/^export (?:type )?(\*|\{[^}]*\}) from '([^']+)';/gm)) {
    const inner = exportsOf(path.resolve(path.dirname(file), from.replace(/\.[tj]s$/, '.d.ts')))
    const wanted =
      names === '*'
        ? undefined
        : names
            .slice(1, -1)
            .split(',')
            .map((name) => name.replace(/^\s*type\s+/, '').trim())
    found.push(...inner.filter(({ name }) => wanted === undefined || wanted.includes(name)))
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

/** A declaration begins in the first column and goes on as long as lines do not; overloads of one name stand together. */
function declarationsIn(source) {
  const found = []
  let comment = ''
  let lines = []
  const close = () => {
    const [, name] = /^export (?:declare )?(?:abstract )?(?:interface|type|function|const|class) (\w+)/.exec(lines[0] ?? '') ?? []
    if (name !== undefined) add(found, name, comment, lines)
    if (lines.length > 0) comment = ''
    lines = []
  }
  for (const line of source.split('\n')) {
    if (line.startsWith('/**')) {
      close()
      comment = `${line}\n`
    } else if (line.startsWith(' *') && lines.length === 0) comment += `${line}\n`
    else if (/^(export|declare|import|interface|type|const|\/\/)/.test(line)) {
      close()
      lines = [line]
    } else if (line !== '') lines.push(line)
  }
  close()
  return found
}

function add(found, name, comment, lines) {
  const body = shortened(lines)
  const same = found.find((each) => each.name === name)
  if (same === undefined) found.push({ name, comment, text: comment + body })
  else same.text += `\n${comment}${body}`
}

/** Schemas have types of many lines that say what their comment and docs/formats.md say better. */
function shortened(lines) {
  const text = lines
    .map((line) => line.replace(/^export (declare )?/, '').replace(/^( {4})+/, (indent) => ' '.repeat(indent.length / 2)))
    .join('\n')
    .trimEnd()
  const [head = ''] = text.split(/[:=]/, 1)
  return text.startsWith('const') && text.length > 1500 ? `${head.trimEnd()}: …` : text.replace(/^ {2}private .*\n/gm, '')
}
