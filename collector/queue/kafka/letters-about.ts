// Which dead letters are about somebody who is to be forgotten. A letter's rows are asked where they can be read; many a letter is one because nothing can be read of
// it, and that is looked through as text.
import type { DeadLetter } from './dead-letter.ts'

export interface LetterSubject {
  project: string
  user?: string
  session?: string
  /** Known to be the subject's. */
  traces: readonly string[]
}

/** What a letter says of a name: whether one of its rows has this value there, and whether it has that name at all. */
interface Says {
  has(name: Name, value: string): boolean
  names(name: Name): boolean
}
type Name = 'project' | 'user' | 'session'

/** Letters of other projects never: a letter that names none is taken by its trace alone. `names`: the letter itself says whose it is. */
export function lettersAbout<Letter extends Pick<DeadLetter, 'trace' | 'value'>>(
  letters: readonly Letter[],
  subject: LetterSubject,
): { letter: Letter; names: boolean }[] {
  const { project, user, session } = subject
  const inProject = letters
    .map((letter) => ({ letter, says: readLetter(letter.value) }))
    .filter(({ says }) => says.has('project', project) || !says.names('project'))
    .map(({ letter, says }) => ({
      letter,
      names: (user !== undefined && says.has('user', user)) || (session !== undefined && says.has('session', session)),
    }))
  const traces = new Set([...subject.traces, ...inProject.filter(({ names }) => names).map(({ letter }) => letter.trace)])
  return inProject.filter(({ letter }) => traces.has(letter.trace))
}

function readLetter(value: Buffer): Says {
  const rows = rowsOf(value)
  if (rows !== undefined)
    return { has: (name, wanted) => rows.some((row) => row[name] === wanted), names: (name) => rows.some((row) => name in row) }
  return { has: (name, wanted) => value.includes(member(name, wanted)), names: (name) => value.includes(`${JSON.stringify(name)}:`) }
}

/** Undefined where the value is not some rows. What a row says of itself counts: a tag or an attribute may have any name, `project` too. */
function rowsOf(value: Buffer): Partial<Record<Name, unknown>>[] | undefined {
  try {
    const { rows } = JSON.parse(value.toString('utf8'))
    if (!Array.isArray(rows)) return undefined
    return rows.every((row) => typeof row === 'object' && row !== null && !Array.isArray(row)) ? rows : undefined
  } catch {
    return undefined
  }
}

/** As a row's JSON has it. What quotes it within a body has its quotation marks escaped. */
function member(name: string, value: string): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`
}
