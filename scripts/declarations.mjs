// Reads the declaration files that a package is published with, as text: what an entry exports, with its doc comments, and which types its signatures name.
// TypeScript 7 has no API in JavaScript; its declarations are regular enough.
import fs from 'node:fs'
import path from 'node:path'

/**
 * Every export of a declaration file, those that it passes on too, by name.
 * @returns {{ name: string, comment: string, text: string, names: Set<string> }[]} `names`: types of the package's own that the text names
 */
export function exportsOf(file) {
  const source = fs.readFileSync(file, 'utf8')
  const found = declarationsIn(source)
  for (const [, names, from] of source.matchAll(/^export (?:type )?(\*|\{[^}]*\}) from '([^']+)';/gm)) {
    const inner = exportsOf(path.resolve(path.dirname(file), from.replace(/\.[tj]s$/, '.d.ts')))
    const wanted = names === '*' ? undefined : namesIn(names.slice(1, -1))
    found.push(...inner.filter(({ name }) => wanted === undefined || wanted.includes(name)))
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

/** Types that exports name and that are no exports themselves: `Options (named by start)`. Nobody could look them up, or write their names. */
export function undescribed(exports) {
  const described = new Set(exports.map(({ name }) => name))
  return exports.flatMap(({ name, names }) => [...names].filter((each) => !described.has(each)).map((each) => `${each} (named by ${name})`))
}

/** A declaration begins in the first column and goes on as long as lines do not; overloads of one name stand together. */
function declarationsIn(source) {
  const found = []
  const own = ownNames(source)
  let comment = ''
  let lines = []
  const close = () => {
    const [, name] = /^export (?:declare )?(?:abstract )?(?:interface|type|function|const|class) (\w+)/.exec(lines[0] ?? '') ?? []
    if (name !== undefined) add(found, own, name, comment, lines)
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

function add(found, own, name, comment, lines) {
  const body = shortened(lines)
  const code = body.replace(/\/\*[\s\S]*?\*\/|'[^'\n]*'/g, '')
  const names = [...code.matchAll(/[A-Za-z_$]\w*/g)].map(([each]) => each).filter((each) => each !== name && own.has(each))
  const same = found.find((each) => each.name === name)
  if (same === undefined) found.push({ name, comment, text: comment + body, names: new Set(names) })
  else {
    same.text += `\n${comment}${body}`
    for (const each of names) same.names.add(each)
  }
}

/** Types that a file declares, or takes from a file beside it; those of other packages have their own pages. */
function ownNames(source) {
  const own = new Set()
  for (const [, names] of source.matchAll(/^import (?:type )?\{([^}]*)\} from '\.[^']*';/gm))
    for (const name of namesIn(names)) own.add(name)
  for (const [, name] of source.matchAll(/import\('\.[^']*'\)\.(\w+)/g)) own.add(name)
  for (const [, name] of source.matchAll(/^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm)) own.add(name)
  return own
}

/** `type A, B as C`: what they are called here. */
function namesIn(list) {
  return list
    .split(',')
    .map((each) =>
      each
        .replace(/^\s*type\s+/, '')
        .replace(/^.* as /, '')
        .trim(),
    )
    .filter((each) => each !== '')
}

/** Schemas have types of many lines that say what their comment and docs/formats.md say better. */
function shortened(lines) {
  const text = lines
    .map((line) =>
      line
        .replace(/^export (declare )?/, '')
        .replace(/import\('\.[^']*'\)\./g, '')
        .replace(/^( {4})+/, (indent) => ' '.repeat(indent.length / 2)),
    )
    .join('\n')
    .trimEnd()
  const [head = ''] = text.split(/[:=]/, 1)
  return text.startsWith('const') && text.length > 1500 ? `${head.trimEnd()}: …` : text.replace(/^ {2}private .*\n/gm, '')
}
