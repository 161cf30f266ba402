// Which dead letters are about somebody who is to be forgotten. They are looked through as text, since many a letter is one because nothing can be read of it.
import type { DeadLetter } from './dead-letter.ts'

export interface LetterSubject {
  project: string
  user?: string
  session?: string
  /** Known to be the subject's. */
  traces: readonly string[]
}

/** Letters of other projects never: a letter that names none is taken by its trace alone. */
export function lettersAbout<Letter extends Pick<DeadLetter, 'trace' | 'value'>>(
  letters: readonly Letter[],
  subject: LetterSubject,
): Letter[] {
  const { project, user, session } = subject
  const inProject = letters.filter(({ value }) => value.includes(member('project', project)) || !value.includes('"project":'))
  const marks = [...(user === undefined ? [] : [member('user', user)]), ...(session === undefined ? [] : [member('session', session)])]
  const named = inProject.filter(({ value }) => marks.some((mark) => value.includes(mark)))
  const traces = new Set([...subject.traces, ...named.map(({ trace }) => trace)])
  return inProject.filter(({ trace }) => traces.has(trace))
}

/** As a row's JSON has it. What quotes it within a body has its quotation marks escaped. */
function member(name: string, value: string): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`
}
