// What `homeground()` may be told, by options and by environment variables, resolved once.

import type { SpoolOptions } from './export/spool-queue.ts'
import type { Exporter } from './export/types.ts'
import type { RedactHook } from './privacy/redaction.ts'
import { type BuiltInRedactor, redactorOrder } from './privacy/redactors.ts'
import { diag } from './run/host-telemetry.ts'
import type { Canary } from './run/variant.ts'
import { HomegroundError } from './trace/error.ts'

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
  /** False: everything passes straight through. @default true, unless HOMEGROUND_DISABLED or OTEL_SDK_DISABLED is `true` */
  enabled?: boolean
  /** Whether bodies, arguments and results are recorded. @default true, unless OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT says no */
  captureContent?: boolean
  /** True: model spans also carry the GenAI conventions' message attributes, for backends that do not read vendors' bodies. @default false */
  emitMessages?: boolean
  /** What is changed before anything leaves the process: built-in redactors by name, which write pseudonyms, and hooks of your own. @default none */
  redact?: RedactHook | readonly (BuiltInRedactor | RedactHook)[]
  /** The secret that pseudonyms are made with: keep it, or the same customer has another word. @default HOMEGROUND_REDACT_KEY */
  redactKey?: string
  /** Lets HOMEGROUND_REPLAY_URL take hold of the product although NODE_ENV is `production`. @default false */
  allowReplay?: boolean
  /** Gets the promise of each delivery: on serverless, `(work) => context.waitUntil(work)`. @default none */
  waitUntil?: (work: Promise<unknown>) => void
  /** Share of episodes that are recorded, by trace id. @default 1 */
  sample?: number
  /** Values for a share of the sessions, by variant. @default none */
  variants?: Readonly<Record<string, Canary>>
  /** Bytes of spans that may wait for the collector, and again of bodies that are being read; beyond it new spans are dropped, bodies cut. @default 64 MiB */
  maxQueueBytes?: number
  /** Bytes of one body that are recorded. @default 32 MiB */
  maxBodyBytes?: number
  /** Keeps waiting spans on disk instead of in memory: they survive the end of the process. @default HOMEGROUND_SPOOL as the folder, else none */
  spool?: SpoolOptions
  /** How long a span may wait for others to travel with, in ms. @default 1000 */
  exportDelayMs?: number
  /** How long one request to the collector may take, in ms. @default 10000 */
  exportTimeoutMs?: number
  /** `service.name` of the spans. @default OTEL_SERVICE_NAME, else the project */
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

/** @throws HomegroundError invalid-argument for options that no code should have; an environment variable that cannot be used is warned of and left out */
export function resolveSettings(options: HomegroundOptions, environment: NodeJS.ProcessEnv): Settings {
  if (typeof options.project !== 'string' || options.project === '') {
    throw new HomegroundError('invalid-argument', 'homeground(): `project` is missing', {
      hint: "Name the product: homeground({ project: 'my-product' }).",
    })
  }
  if (options.endpoint !== undefined && !URL.canParse(options.endpoint)) {
    throw new HomegroundError('invalid-argument', `homeground(): \`endpoint\` is no URL: ${options.endpoint}`, {
      hint: 'Give the collector’s base URL, e.g. http://127.0.0.1:4318.',
    })
  }
  const redact = typeof options.redact === 'function' ? [options.redact] : (options.redact ?? [])
  const unknown = redact.find((each) => typeof each !== 'function' && !redactorOrder.includes(each))
  if (unknown !== undefined) {
    throw new HomegroundError('invalid-argument', `homeground(): there is no redactor ${String(unknown)}`, {
      hint: `Use one of ${redactorOrder.join(', ')}, or a function.`,
    })
  }
  const endpoint = trimmed(options.endpoint ?? endpointVariable(environment['HOMEGROUND_ENDPOINT']) ?? 'http://127.0.0.1:4318')
  return {
    project: options.project,
    endpoint,
    apiKey: options.apiKey ?? environment['HOMEGROUND_API_KEY'],
    exporter: options.exporter,
    spool: options.spool ?? (environment['HOMEGROUND_SPOOL'] ? { folder: environment['HOMEGROUND_SPOOL'] } : undefined),
    provider: options.provider ?? 'own',
    allowReplay: options.allowReplay ?? false,
    waitUntil: options.waitUntil,
    enabled: options.enabled ?? !(says(environment['HOMEGROUND_DISABLED'], 'true') || says(environment['OTEL_SDK_DISABLED'], 'true')),
    captureContent:
      options.captureContent ??
      !says(environment['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'], 'false', 'no_content', 'event_only'),
    redact,
    redactKey: redactKeyOf(options, environment, redact.length > 0),
    emitMessages: options.emitMessages ?? false,
    sample: options.sample ?? 1,
    variants: options.variants ?? {},
    maxQueueBytes: options.maxQueueBytes ?? 64 * 1024 * 1024,
    maxBodyBytes: options.maxBodyBytes ?? 32 * 1024 * 1024,
    exportDelayMs: options.exportDelayMs ?? 1000,
    exportTimeoutMs: options.exportTimeoutMs ?? 10_000,
    serviceName: options.serviceName ?? environment['OTEL_SERVICE_NAME'] ?? options.project,
    compression: compressionFor(endpoint, environment),
    resource: resourceAttributes(environment['OTEL_RESOURCE_ATTRIBUTES']),
  }
}

function redactKeyOf(options: HomegroundOptions, environment: NodeJS.ProcessEnv, needed: boolean): string {
  const key = options.redactKey ?? environment['HOMEGROUND_REDACT_KEY'] ?? ''
  if (key === '' && needed) {
    diag.warn(
      'homeground: redaction has no key: who knows the project’s name can try which value a pseudonym stands for. Set HOMEGROUND_REDACT_KEY',
    )
  }
  return key
}

function endpointVariable(value: string | undefined): string | undefined {
  if (value === undefined || value === '' || URL.canParse(value)) return value || undefined
  diag.warn('homeground: HOMEGROUND_ENDPOINT is no URL and is left out')
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
    const [key, value] = pair.split('=').map((part) => part.trim())
    if (key === undefined || key === '' || value === undefined) continue
    try {
      attributes[key] = decodeURIComponent(value)
    } catch {
      attributes[key] = value
    }
  }
  return attributes
}
