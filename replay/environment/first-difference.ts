// Where two JSON values first differ, as a path a person can follow, with the text around the difference.

export interface Difference {
  /** `request.messages[0].parts[0].content` */
  path: string
  /** JSON text, or the part of a long text around the first difference; `(nothing)` where the side has no such member. */
  expected: string
  actual: string
  /** The differing stretch alone, widened to whole words: what the cause is read from. */
  expectedPart: string
  actualPart: string
}

/** What each side calls itself: a product may say its trace id (for feedback, in an answer), and a replay has one of its own. */
export interface OwnNames {
  expected: string
  actual: string
}

/** `undefined` for equal values. Members that are `undefined` count as absent; the order of keys does not matter; each side's own name (`own`) is the same word. */
export function firstDifference(expected: unknown, actual: unknown, path: string, own?: OwnNames): Difference | undefined {
  if (expected === actual) return undefined
  if (typeof expected === 'string' && typeof actual === 'string') {
    const said = own === undefined ? actual : actual.replaceAll(own.actual, own.expected)
    return said === expected ? undefined : textDifference(expected, said, path)
  }
  if (Array.isArray(expected) && Array.isArray(actual)) {
    for (let index = 0; index < Math.max(expected.length, actual.length); index += 1) {
      const found = firstDifference(expected[index], actual[index], `${path}[${index}]`, own)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (isObject(expected) && isObject(actual)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const found = firstDifference(
        expected[key],
        actual[key],
        /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`,
        own,
      )
      if (found !== undefined) return found
    }
    return undefined
  }
  const [before, after] = [shown(expected), shown(actual)]
  return { path, expected: before, actual: after, expectedPart: before, actualPart: after }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shown(value: unknown): string {
  if (value === undefined) return '(nothing)'
  const text = JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 197)}…` : text
}

const around = 40

function textDifference(expected: string, actual: string, path: string): Difference {
  const shorter = Math.min(expected.length, actual.length)
  let start = 0
  while (start < shorter && expected[start] === actual[start]) start += 1
  let end = 0
  while (end < shorter - start && expected[expected.length - 1 - end] === actual[actual.length - 1 - end]) end += 1
  // Widened to the words that hold the difference: a time whose seconds differ is to be seen whole.
  while (start > 0 && isWord(expected[start - 1])) start -= 1
  while (end > 0 && isWord(expected[expected.length - end])) end -= 1
  return {
    path,
    expected: excerpt(expected, start, end),
    actual: excerpt(actual, start, end),
    expectedPart: expected.slice(start, expected.length - end),
    actualPart: actual.slice(start, actual.length - end),
  }
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}:.+_-]/u.test(character)
}

function excerpt(text: string, start: number, end: number): string {
  const from = Math.max(0, start - around)
  const to = Math.min(text.length, text.length - end + around)
  const cut = text.slice(from, to)
  const short = cut.length > 240 ? `${cut.slice(0, 237)}…` : cut
  return JSON.stringify(`${from > 0 ? '…' : ''}${short}${to < text.length ? '…' : ''}`)
}
