// Whom a product calls by name: where it redacts, a word of the built-in redactors stands in the store in the name's place.
import { Redaction } from '@homeground/sdk/seam'

const redactors = ['email', 'phone', 'card', 'key'] as const

/** The name itself, then the words that the redactors make of it with the key in HOMEGROUND_REDACT_KEY, one by one and together. */
export function recordedAs(
  name: string,
  { project, path }: { project: string; path: 'user' | 'session' },
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const key = environment['HOMEGROUND_REDACT_KEY'] ?? ''
  const words = [...redactors.map((one) => [one]), redactors].map((redact) => new Redaction({ project, redact, key }).text(name, path))
  return [...new Set([name, ...words])]
}
