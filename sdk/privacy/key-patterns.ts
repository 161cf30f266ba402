// What API keys, tokens and private keys look like; and their removal from what is recorded in any case: error messages and addresses.
import type { Attributes, AttributeValue } from '../trace/span.ts'

export const keyPatterns: readonly RegExp[] = [
  // OpenAI, Anthropic, Stripe and those who write keys as they do
  /(?<![\w-])(?:sk|pk|rk)[-_][\w-]{16,256}/g,
  /(?<![\w-])(?:gh[pousr]_|github_pat_|glpat-|npm_|hf_|gsk_|xai-|r8_)[\w-]{16,256}/g,
  /(?<![\w-])xox[abeoprs]-[\w-]{10,256}/g,
  /(?<![\w-])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])/g,
  /(?<![\w-])(?:AIza[\w-]{30,60}|ya29\.[\w-]{20,512})/g,
  /(?<![\w-])eyJ[\w-]{8,2048}\.eyJ[\w-]{8,4096}\.[\w-]{8,2048}/g,
  /(?<=(?<![\w-])Bearer )[\w.~+/=-]{16,4096}/g,
  /-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----[^-]{1,16384}-----END [A-Z ]{0,32}PRIVATE KEY-----/g,
]

/** `?key=`, `&api_key=`, … as addresses say them, also in an error's message. */
const inAddress = /([?&](?:[\w-]{0,20}key|[\w-]{0,20}token|sig|signature|secret|password)=)[^&\s"'#<]{1,4096}/gi

/** `//user:password@` of an address. */
const inAuthority = /(?<=\/\/)[^\s/?#@"']{1,512}@/g

/** The text without keys: those of its patterns, those in addresses, and `secrets` to the letter. */
export function withoutKeys(text: string, secrets: readonly string[] = []): string {
  let rest = secrets.reduce((all, secret) => all.replaceAll(secret, '<key>'), text)
  rest = rest.replace(inAddress, '$1<key>').replace(inAuthority, '<key>@')
  return keyPatterns.reduce((all, pattern) => all.replace(pattern, '<key>'), rest)
}

const secretHeaders = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'ocp-apim-subscription-key', 'proxy-authorization']

/** The keys that a request was sent with, in its headers and its address: an error's body may say them again. */
export function secretsOf(headers: Headers, url: string): string[] {
  const sent = secretHeaders.map((name) => headers.get(name)?.replace(/^(?:bearer|basic)\s+/i, ''))
  const address = URL.canParse(url) ? new URL(url) : undefined
  const inQuery = [...(address?.searchParams ?? [])].map(([name, value]) => (/key|token|sig|secret/i.test(name) ? value : undefined))
  // Shorter ones would cut up words that have nothing to do with them.
  return [...sent, ...inQuery, address?.password].filter((value) => value !== undefined).filter((value) => value.length >= 6)
}

/** In what a product says to its model, so many characters are a key; local servers are given words for one. */
const shortestInContent = 16

/** The attributes without these keys: what a tool answered with an error that repeats one goes on in the next request, and in what the agent gives. */
export function withoutSecrets(attributes: Attributes, secrets: ReadonlySet<string>): Attributes {
  const long = [...secrets].filter(({ length }) => length >= shortestInContent)
  if (long.length === 0) return attributes
  const masked = (value: AttributeValue): AttributeValue =>
    typeof value === 'string' ? long.reduce((all, secret) => all.replaceAll(secret, '<key>'), value) : value
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, masked(value)]))
}
