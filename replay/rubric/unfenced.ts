/** The text in a Markdown fence, where the whole text is one; else the text. By hand: an expression for it takes hours over an answer of blank lines. */
export function unfenced(text: string): string {
  const trimmed = text.trim()
  const end = trimmed.indexOf('\n')
  if (end < 0 || !trimmed.endsWith('```') || !/^```[a-z]*\s*$/i.test(trimmed.slice(0, end))) return text
  return trimmed.slice(end + 1, -3).trimEnd()
}
