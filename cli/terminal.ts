// Text for a terminal. What was recorded is data: control characters in it are shown, not obeyed.

/** The text with every control character (ANSI escapes, carriage returns, bidirectional overrides) made visible; line breaks stay where `multiline` says so. */
export function inert(text: string, options: { multiline?: boolean } = {}): string {
  return text.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    if (options.multiline === true && (character === '\n' || character === '\t')) return character
    const code = character.charCodeAt(0)
    if (code === 10) return '⏎'
    return code < 32 ? String.fromCharCode(0x2400 + code) : `\\u${code.toString(16).padStart(4, '0')}`
  })
}

/** A word that a shell takes as it is: quoted where it must be, control characters made visible (then it is no longer the same word, but it does no harm). */
export function shellWord(text: string): string {
  return /^[\w./:@=+-]+$/.test(text) ? text : `'${inert(text).replaceAll("'", "'\\''")}'`
}

/** Columns as wide as their widest cell; cells are made inert. Ends with a line break. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows.map((row) => row.map((cell) => inert(cell)))]
  const widths = head.map((_, column) => lines.reduce((widest, line) => Math.max(widest, [...(line[column] ?? '')].length), 0))
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - [...cell].length))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
