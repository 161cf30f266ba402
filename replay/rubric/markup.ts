// Builds HTML text in which nothing recorded can be anything but text: every value put in is escaped unless it is markup made here.

/** Text that is markup already. Only `html` and the template file make it. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Insertable = Markup | string | number | undefined | false | readonly Insertable[]

/** A template tag: strings and numbers are escaped, lists joined, `undefined` and `false` leave nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly Insertable[]): Markup {
  return new Markup(strings.map((text, at) => text + (at < values.length ? inserted(values[at]) : '')).join(''))
}

/** For text between tags and in quoted attributes; control characters and direction overrides are shown, not obeyed. */
export function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, shownControl)
    .replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)
}

function shownControl(character: string): string {
  if (character === '\n' || character === '\t') return character
  const code = character.charCodeAt(0)
  return code < 32 ? String.fromCharCode(0x2400 + code) : `\\u${code.toString(16).padStart(4, '0')}`
}

function inserted(value: Insertable): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Markup) return value.text
  if (Array.isArray(value)) return value.map((item: Insertable) => inserted(item)).join('')
  return escaped(String(value))
}
