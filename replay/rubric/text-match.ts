// Whether a text says something: letter case, Unicode form, white space and thousands separators aside. A number must stand as that number.

/**
 * True where `text` contains `wanted`. A wanted number (`327`, `$1,327.50`) is compared as a number with those that stand in the text: `327` is said by
 * `$327.00` and not by `1,327` or `HAT327`.
 */
export function says(text: string, wanted: string, options: { caseSensitive?: boolean } = {}): boolean {
  const number = numberOf(wanted)
  if (number !== undefined) return numbersIn(text).includes(number)
  return plain(text, options.caseSensitive ?? false).includes(plain(wanted, options.caseSensitive ?? false))
}

function plain(text: string, caseSensitive: boolean): string {
  const folded = withoutSeparators(text.normalize('NFC')).replace(/\s+/g, ' ').trim()
  return caseSensitive ? folded : folded.toLowerCase()
}

function numberOf(text: string): number | undefined {
  const bare = withoutSeparators(text.trim()).replace(/^[$€£¥]\s?/, '')
  return /^\d+(\.\d+)?$/.test(bare) ? Number(bare) : undefined
}

function numbersIn(text: string): number[] {
  return (withoutSeparators(text).match(/(?<![\p{L}\d]|\d\.)\d+(?:\.\d+)?(?!\.\d)/gu) ?? []).map(Number)
}

/** Between three digits and the digits before them: 23,553 · 23 553 (no-break and narrow spaces) · 23'553. */
function withoutSeparators(text: string): string {
  return text.replace(/(?<=\d)[,'’\u00a0\u202f](?=\d{3}(?!\d))/g, '')
}
