// What `homeground()` may be told, by options and by environment variables, resolved once.

import { checkOptions, endpointFault, isHeaderValue } from './check-options.ts'
import type { SpoolOptions } from './export/spool-queue.ts'
import type { Exporter } from './export/types.ts'
import type { RedactHook } from './privacy/redaction.ts'
import type { BuiltInRedactor } from './privacy/redactors.ts'
import type { Canary } from './run/variant.ts'
import { warnHost } from './run/warn-host.ts'

/** What `homeground()` may be told; what is left out comes from the environment. */
export interface HomegroundOptions {
  /** What the episodes belong to: one product, one project. */
  project: string
  /** Base URL of the collector. @default HOMEGROUND_ENDPOINT, else http://127.0.0.1:4318 */
  endpoint?: string
  /** @default HOMEGROUND_API_KEY */
  apiKey?: string
  /** Takes the spans instead of the collector at `endpoint`. */
  exporter?: Exporter
  /** `host`: spans are also made with the process's own tracer provider; its exporters see prompts and its sampling applies. @default 'own' */
  provider?: 'own' | 'host'
  /** False: everything passes straight through. @default true, unless HOMEGROUND_DISABLED (true, 1, yes, on, or a word that is not known) or OTEL_SDK_DISABLED (`true`) says so */
  enabled?: boolean
  /** Whether bodies, arguments and results are recorded. @default true, unless OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT says no */
  captureContent?: boolean
  /** True: model spans also carry the GenAI conventions' message attributes, for backends that do not read vendors' bodies. @default false */
  emitMessages?: boolean
  /** What is changed before anything leaves the process: built-in redactors by name, which write pseudonyms, and hooks of your own. @default none */
  redact?: BuiltInRedactor | RedactHook | readonly (BuiltInRedactor | RedactHook)[]
  /** The secret that pseudonyms are made with: keep it, or the same customer has another word. Without one, who knows the project’s name can try values, and the process is warned. @default HOMEGROUND_REDACT_KEY */
  redactKey?: string
  /** Lets HOMEGROUND_REPLAY_URL take hold of the product although NODE_ENV is `production`. @default false */
  allowReplay?: boolean
  /** Gets the promise of each delivery: on serverless, `(work) => context.waitUntil(work)`. @default none */
  waitUntil?: (work: Promise<unknown>) => void
  /** Share of episodes that are recorded, whole and with their feedback, by trace id: processes that say the same share choose the same ones. @default 1 */
  sample?: number
  /** Values for a share of the sessions, by variant. @default none */
  variants?: Readonly<Record<string, Canary>>
  /** Bytes of spans that may wait for the collector or the exporter, and again of bodies that are being read; beyond it new spans are dropped, bodies cut. @default 64 MiB */
  maxQueueBytes?: number
  /** Bytes of one request's or answer's body that are recorded: both together must fit what the collector takes at once. @default 15 MiB */
  maxBodyBytes?: number
  /** Keeps waiting spans on disk instead of in memory: they survive the end of the process. @default HOMEGROUND_SPOOL as the folder, else none */
  spool?: SpoolOptions
  /** How long a span may wait for others to travel with, in ms. @default 1000 */
  exportDelayMs?: number
  /** How long one request to the collector may take, in ms. @default 10000 */
  exportTimeoutMs?: number
  /** `service.name` of the spans. @default OTEL_SERVICE_NAME, else that of OTEL_RESOURCE_ATTRIBUTES, else the project */
  serviceName?: string
}

export interface Settings extends Required<Omit<HomegroundOptions, 'apiKey' | 'exporter' | 'spool' | 'waitUntil' | 'redact'>> {
  redact: readonly (BuiltInRedactor | RedactHook)[]
  apiKey: string | undefined
  exporter: Exporter | undefined
  spool: SpoolOptions | undefined
  waitUntil: ((work: Promise<unknown>) => void) | undefined
  compression: 'gzip' | 'none'
  /** OTEL_RESOURCE_ATTRIBUTES. */
  resource: Record<string, string>
}

/** @throws HomegroundError invalid-argument for options that cannot be used as given; an environment variable that cannot be used is warned of and left out */
export function resolveSettings(given: HomegroundOptions, environment: NodeJS.ProcessEnv): Settings {
  const options = checkOptions(given)
  const redact = redactorsOf(options.redact)
  const resource = resourceAttributes(environment['OTEL_RESOURCE_ATTRIBUTES'])
  const endpoint = trimmed(options.endpoint ?? endpointVariable(environment['HOMEGROUND_ENDPOINT']) ?? 'http://127.0.0.1:4318')
  return {
    project: options.project,
    endpoint,
    apiKey: options.apiKey || keyVariable(environment['HOMEGROUND_API_KEY']),
    exporter: options.exporter,
    spool: options.spool ?? (environment['HOMEGROUND_SPOOL'] ? { folder: environment['HOMEGROUND_SPOOL'] } : undefined),
    provider: options.provider ?? 'own',
    allowReplay: options.allowReplay ?? false,
    waitUntil: options.waitUntil,
    enabled: isEnabled(options, environment),
    captureContent: options.captureContent ?? capturesContent(environment['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT']),
    redact,
    redactKey: redactKeyOf(options, environment, redact.length > 0),
    emitMessages: options.emitMessages ?? false,
    sample: options.sample ?? 1,
    variants: options.variants ?? {},
    maxQueueBytes: options.maxQueueBytes ?? 64 * 1024 * 1024,
    maxBodyBytes: options.maxBodyBytes ?? 15 * 1024 * 1024,
    exportDelayMs: options.exportDelayMs ?? 1000,
    exportTimeoutMs: options.exportTimeoutMs ?? 10_000,
    serviceName: options.serviceName ?? (environment['OTEL_SERVICE_NAME'] || resource['service.name'] || options.project),
    compression: compressionFor(endpoint, environment),
    resource,
  }
}

/** Whose warnings they are: the environment's, which all of a process share. */
const mistakes = {}

function redactorsOf(redact: HomegroundOptions['redact']): readonly (BuiltInRedactor | RedactHook)[] {
  return typeof redact === 'function' || typeof redact === 'string' ? [redact] : (redact ?? [])
}

function isEnabled(options: HomegroundOptions, environment: NodeJS.ProcessEnv): boolean {
  const on = options.enabled ?? !(isDisabled(environment['HOMEGROUND_DISABLED']) || says(environment['OTEL_SDK_DISABLED'], 'true'))
  if (!on && environment['HOMEGROUND_REPLAY_URL'])
    warnHost(
      mistakes,
      'HOMEGROUND_REPLAY_URL is ignored by a homeground() that is switched off: models and tools run for real. In a replay switch it on',
    )
  return on
}

/** A switch that is turned off for a reason: what is no yes and no no is taken for a yes. */
function isDisabled(word: string | undefined): boolean {
  if (word === undefined || word.trim() === '' || says(word, 'false', '0', 'no', 'off')) return false
  if (!says(word, 'true', '1', 'yes', 'on'))
    warnHost(mistakes, 'HOMEGROUND_DISABLED has a word that is not known: nothing is recorded. Set it to true or false')
  return true
}

/** OpenTelemetry's words; what is none of them is taken for a no: nobody sets this variable to say more. */
function capturesContent(word: string | undefined): boolean {
  if (word === undefined || word.trim() === '') return true
  if (says(word, 'true', '1', 'yes', 'on', 'span_only', 'span_and_event')) return true
  if (!says(word, 'false', '0', 'no', 'off', 'no_content', 'event_only'))
    warnHost(
      mistakes,
      'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT has a word that is not known: content is not recorded. Set it to true or NO_CONTENT',
    )
  return false
}

function redactKeyOf(options: HomegroundOptions, environment: NodeJS.ProcessEnv, needed: boolean): string {
  const key = options.redactKey ?? environment['HOMEGROUND_REDACT_KEY'] ?? ''
  if (key === '' && needed) {
    warnHost(
      mistakes,
      'redaction has no key: who knows the project’s name can try which value a pseudonym stands for. Set HOMEGROUND_REDACT_KEY',
    )
  }
  return key
}

function endpointVariable(value: string | undefined): string | undefined {
  const given = value?.trim() ?? ''
  if (given === '') return undefined
  const fault = endpointFault(given)
  if (fault === undefined) return given
  warnHost(mistakes, `HOMEGROUND_ENDPOINT ${fault}; it is left out`)
  return undefined
}

/** A key that comes from a file has the file's line break at its end. */
function keyVariable(value: string | undefined): string | undefined {
  const key = value?.trim() ?? ''
  if (key === '') return undefined
  if (isHeaderValue(key)) return key
  warnHost(mistakes, 'HOMEGROUND_API_KEY has characters that no key has and is left out')
  return undefined
}

/** Gzip pays over a network and costs on loopback. */
function compressionFor(endpoint: string, environment: NodeJS.ProcessEnv): 'gzip' | 'none' {
  const asked = environment['OTEL_EXPORTER_OTLP_COMPRESSION']
  if (asked === 'gzip' || asked === 'none') return asked
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(endpoint).hostname) ? 'none' : 'gzip'
}

function trimmed(endpoint: string): string {
  return endpoint.replace(/\/+$/, '').replace(/\/v1\/traces$/, '')
}

function says(value: string | undefined, ...words: string[]): boolean {
  return value !== undefined && words.includes(value.trim().toLowerCase())
}

/** `key=value,key=value`, percent-encoded. */
function resourceAttributes(text: string | undefined): Record<string, string> {
  const attributes: Record<string, string> = {}
  for (const pair of text?.split(',') ?? []) {
    const at = pair.indexOf('=')
    const [key, value] = [pair.slice(0, Math.max(at, 0)).trim(), pair.slice(at + 1).trim()]
    if (key === '') continue
    try {
      attributes[key] = decodeURIComponent(value)
    } catch {
      attributes[key] = value
    }
  }
  return attributes
}
