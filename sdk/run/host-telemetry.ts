// The host's OpenTelemetry, if it has one, read at the global where every copy of `@opentelemetry/api` 1.x puts what the host has set up. A host without one has
// nothing there. Importing the interface instead would take longer than loading the rest of the SDK, and would ask the host to install it.

/** A span that the host's provider has begun. */
export interface StartedHostSpan {
  spanContext(): { traceId: string; spanId: string; traceFlags: number }
  updateName(name: string): unknown
  setAttribute(key: string, value: string | number | boolean | string[]): unknown
  setStatus(status: { code: number; message?: string }): unknown
  end(endTime?: number): void
}

interface HostContext {
  getValue(key: symbol): unknown
  setValue(key: symbol, value: unknown): HostContext
}

/** What is used of what `@opentelemetry/api` registers; each is absent until the host sets it. */
interface HostTelemetry {
  context?: { active(): HostContext; with<T>(context: HostContext, part: () => T): T }
  trace?: { getTracer(name: string, version: string): { startSpan(name: string, options: { kind: number }): StartedHostSpan } }
  diag?: { warn(message: string): void; debug(message: string): void }
}

/** `createContextKey` of the interface makes its keys by `Symbol.for`, so that its copies find each other's values. */
const spanKey = Symbol.for('OpenTelemetry Context Key SPAN')
const suppressTracingKey = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING')

const apiKey = Symbol.for('opentelemetry.js.api.1')

function hostTelemetry(): HostTelemetry | undefined {
  return Reflect.get(globalThis, apiKey)
}

/** OpenTelemetry's own log: quiet until the host gives `diag` a logger. */
export const diag = {
  warn: (message: string): void => log('warn', message),
  debug: (message: string): void => log('debug', message),
}

function log(level: 'warn' | 'debug', message: string): void {
  try {
    hostTelemetry()?.diag?.[level](message)
  } catch {
    // The host's logger has failed; where would it be told?
  }
}

/** Ids of the host's span that is active here; `undefined` where none is. */
export function activeHostSpan(): { traceId: string; spanId: string } | undefined {
  const found = hostTelemetry()?.context?.active().getValue(spanKey)
  if (!isStartedSpan(found)) return undefined
  const ids = found.spanContext()
  return areValid(ids) ? ids : undefined
}

/** `kind` as OTLP numbers it. `undefined` where the host has no provider. */
export function startHostSpan(scope: { name: string; version: string }, name: string, kind: 1 | 3): StartedHostSpan | undefined {
  const span = hostTelemetry()
    ?.trace?.getTracer(scope.name, scope.version)
    .startSpan(name, { kind: kind - 1 })
  return span !== undefined && areValid(span.spanContext()) ? span : undefined
}

/** Runs `part` with this span as the host's active one. */
export function underHostSpan<T>(span: StartedHostSpan, part: () => T): T {
  const context = hostTelemetry()?.context
  return context === undefined ? part() : context.with(context.active().setValue(spanKey, span), part)
}

/** Runs `part` so that the host's instrumentation does not trace it. */
export function untraced<T>(part: () => T): T {
  const context = hostTelemetry()?.context
  return context === undefined ? part() : context.with(context.active().setValue(suppressTracingKey, true), part)
}

function isStartedSpan(value: unknown): value is StartedHostSpan {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'spanContext') === 'function'
}

/** Of a provider that samples nothing, and of none, ids are zeros. */
function areValid({ traceId, spanId }: { traceId: string; spanId: string }): boolean {
  return /^[0-9a-f]{32}$/i.test(traceId) && /[1-9a-f]/i.test(traceId) && /^[0-9a-f]{16}$/i.test(spanId) && /[1-9a-f]/i.test(spanId)
}
