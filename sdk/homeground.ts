// homeground(): one object that a product keeps; records its model calls, tools and agents, and lets a replay take hold of them.
import { globalFetch } from './capture/global-fetch.ts'
import { type Fetch, isRecording, recordingFetch, unrecorded } from './capture/recording-fetch.ts'
import { wrapClient } from './capture/wrap-client.ts'
import { ExporterSink } from './export/exporter-sink.ts'
import { OtlpSender } from './export/otlp-sender.ts'
import { OtlpSink } from './export/otlp-sink.ts'
import { MemoryQueue } from './export/piece-queue.ts'
import type { SpanSink } from './export/sink.ts'
import { SpoolQueue } from './export/spool-queue.ts'
import { finishSpan } from './finish-span.ts'
import { Redaction } from './privacy/redaction.ts'
import { recordAgent } from './run/agent.ts'
import { systemClock } from './run/clock.ts'
import { runStorage } from './run/context.ts'
import { currentTrace, sendFeedback } from './run/feedback.ts'
import { carryRun, resumeRun } from './run/hand-over.ts'
import { hostSpanProcessor } from './run/host-span-processor.ts'
import { startHostSpan } from './run/host-telemetry.ts'
import { randomIds } from './run/ids.ts'
import { recordInstant, recordIo } from './run/io.ts'
import { atProcessEnd } from './run/process-end.ts'
import { Recorder } from './run/recorder.ts'
import { connectRemoteSeam, type RemoteReplay } from './run/remote-seam.ts'
import { withContent, withSession } from './run/session.ts'
import { warnAtExit } from './run/silence.ts'
import { noStats } from './run/stats.ts'
import { recordTool } from './run/tool.ts'
import { ToolRegistry } from './run/tool-registry.ts'
import { chooseVariant } from './run/variant.ts'
import { type HomegroundOptions, resolveSettings, type Settings } from './settings.ts'
import { straightThrough } from './straight-through.ts'
import { genAi, homeground as names } from './trace/attributes.ts'
import type { Attributes } from './trace/span.ts'
import type { Homeground } from './types.ts'
import { version } from './version.ts'

/** @throws HomegroundError invalid-argument where `project` is missing or `endpoint` is no URL */
export function homeground(options: HomegroundOptions): Homeground {
  const settings = resolveSettings(options, process.env)
  if (!settings.enabled) return straightThrough()
  const recording = new Recording(settings)
  recording.warnIfSilent(
    'Model calls are seen through hg.wrap(client), hg.fetch or hg.agent; give the client that calls the model one of them, made by this homeground().',
  )
  return recording.api()
}

/** As `homeground()`, and the global fetch records from here on. For `@homeground/sdk/register`. */
export function registerHomeground(options: HomegroundOptions): Homeground {
  const settings = resolveSettings(options, process.env)
  if (!settings.enabled) return straightThrough()
  const recording = new Recording(settings)
  recording.patchGlobalFetch()
  recording.warnIfSilent(
    'Seen is what goes through the global fetch to a known model endpoint. Other HTTP clients (axios, node:http, the AWS SDK, npm undici, WebSocket): `homeground doctor` names those of this project, docs/sdk/what-fetch-cannot-see.md what to do.',
  )
  return recording.api()
}

class Recording {
  private readonly settings: Settings
  private readonly stats = noStats()
  private readonly sink: SpanSink
  private readonly recorder: Recorder
  private readonly tools: ToolRegistry
  private closing: Promise<void> | undefined
  private remote: RemoteReplay | undefined
  private spool: SpoolQueue | undefined

  constructor(settings: Settings) {
    this.settings = settings
    const scope = { name: '@homeground/sdk', version }
    const resource: Attributes = {
      ...settings.resource,
      [genAi.serviceName]: settings.serviceName,
      [names.project]: settings.project,
    }
    this.sink = this.makeSink(resource, scope)
    const tracer = settings.provider === 'host' ? { startSpan: (name: string, kind: 1 | 3) => startHostSpan(scope, name, kind) } : undefined
    const redaction =
      settings.redact.length === 0
        ? undefined
        : new Redaction({ project: settings.project, redact: settings.redact, key: settings.redactKey }, (error) =>
            this.recorder.failed(error),
          )
    const finish = finishSpan(redaction, settings.emitMessages)
    this.recorder = new Recorder({
      clock: systemClock(),
      ids: randomIds(),
      sink: this.sink,
      stats: this.stats,
      resource,
      scope,
      captureContent: settings.captureContent,
      maxHeldBytes: settings.maxQueueBytes,
      sample: (traceId) => settings.sample >= 1 || Number.parseInt(traceId.slice(-8), 16) / 2 ** 32 < settings.sample,
      ...(tracer === undefined ? {} : { tracer }),
      ...(finish === undefined ? {} : { finish }),
      ...(redaction === undefined ? {} : { redaction }),
      ...(settings.waitUntil === undefined ? {} : { delivered: this.awaited(settings.waitUntil) }),
    })
    this.tools = new ToolRegistry(this.recorder)
  }

  api(): Homeground {
    const { recorder, settings, tools, stats } = this
    const instance = { version, drain: () => recorder.drain() }
    this.remote = this.joinReplay()
    runStorage.instances.add(instance)
    const forget = atProcessEnd({
      idle: () => {
        recorder.leaveOpen()
        void this.flush(settings.exportTimeoutMs)
      },
      exit: () => {
        if (this.spool === undefined) return
        recorder.leaveOpen()
        recorder.drain()
        this.spool.keep()
      },
    })
    let recording: Fetch | undefined
    return {
      enabled: true,
      wrap: (client) => wrapClient(client, recorder, settings.maxBodyBytes),
      get fetch() {
        recording ??= recordingFetch(globalFetch(), recorder, {
          every: false,
          maxBodyBytes: settings.maxBodyBytes,
          target: () => unrecorded(globalThis.fetch),
        })
        return recording
      },
      agent: (name, fn, options = {}) => recordAgent(recorder, name, fn, options),
      tool: (options) => {
        const tool = recordTool(recorder, options)
        tools.add({ ...tool, call: (call) => Reflect.apply(tool.call, tool, [call]) })
        return tool
      },
      callTool: (call) => tools.call(call),
      toolDefinitions: tools.definitions(),
      io: (name, fn, options) => recordIo(recorder, name, fn, options),
      now: () => recordInstant(recorder, 'now', Date.now),
      random: () => recordInstant(recorder, 'random', Math.random),
      variant: (name, otherwise) => chooseVariant(name, otherwise, settings.variants),
      session: (session, fn) => withSession(recorder, session, fn),
      captureContent: withContent,
      trace: currentTrace,
      carry: carryRun,
      resume: resumeRun,
      feedback: (name, value, options = {}) =>
        recorder.guard(() => sendFeedback(recorder, settings.project, name, value, options), undefined),
      spanProcessor: (options = {}) => hostSpanProcessor(recorder, () => this.flush(settings.exportTimeoutMs), options),
      flush: (timeoutMs = 10_000) => this.flush(timeoutMs),
      shutdown: (timeoutMs = 10_000) => {
        this.closing ??= this.shutdown(timeoutMs).finally(() => {
          recorder.over = true
          runStorage.instances.delete(instance)
          forget()
        })
        return this.closing
      },
      stats: () => ({ ...stats }),
    }
  }

  patchGlobalFetch(): void {
    if (isRecording(globalThis.fetch)) return
    globalThis.fetch = recordingFetch(unrecorded(globalThis.fetch), this.recorder, {
      every: false,
      maxBodyBytes: this.settings.maxBodyBytes,
    })
  }

  warnIfSilent(advice: string): void {
    const { endpoint, exporter, spool } = this.settings
    warnAtExit({
      stats: this.stats,
      drain: () => this.recorder.drain(),
      advice,
      ...(exporter === undefined
        ? { collector: { endpoint, spool: () => (this.spool?.onDisk === true ? spool?.folder : undefined) } }
        : {}),
    })
  }

  private async flush(timeoutMs: number): Promise<boolean> {
    this.recorder.drain()
    await this.remote?.flush()
    return await this.sink.flush(timeoutMs)
  }

  private async shutdown(timeoutMs: number): Promise<void> {
    this.recorder.leaveOpen()
    this.recorder.drain()
    await this.remote?.flush()
    await this.sink.shutdown(timeoutMs)
  }

  /** Puts the whole process into the replay that its environment names, once for all instances. */
  private joinReplay(): RemoteReplay | undefined {
    if (runStorage.outermost !== undefined) return undefined
    const remote = connectRemoteSeam(process.env, this.settings.allowReplay)
    if (remote === undefined) return undefined
    const { replay } = remote
    runStorage.outermost = { traceId: replay.state.traceId ?? this.recorder.options.ids.traceId(), agents: [], run: {}, replay }
    return remote
  }

  /** One delivery at a time is waited for: it takes along what comes meanwhile. */
  private awaited(waitUntil: (work: Promise<unknown>) => void): () => void {
    let waiting = false
    return () => {
      if (waiting) return
      waiting = true
      const work = this.flush(this.settings.exportTimeoutMs).finally(() => {
        waiting = false
      })
      waitUntil(work)
    }
  }

  private makeSink(resource: Attributes, scope: { name: string; version: string }): SpanSink {
    const { settings, stats } = this
    if (settings.exporter !== undefined) return new ExporterSink(settings.exporter, stats, settings.maxQueueBytes)
    const sender = new OtlpSender({
      endpoint: settings.endpoint,
      apiKey: settings.apiKey,
      compression: settings.compression,
      timeoutMs: settings.exportTimeoutMs,
      fetch: (...given) => Reflect.apply(unrecorded(globalThis.fetch), undefined, given),
      random: Math.random,
    })
    const origin = { resource, scope }
    if (settings.spool !== undefined) this.spool = new SpoolQueue(origin, settings.spool)
    const queue = this.spool ?? new MemoryQueue(origin, settings.maxQueueBytes)
    const sink = new OtlpSink({ sender, queue, stats, maxBatchBytes: 2 * 1024 * 1024, delayMs: settings.exportDelayMs })
    if (this.spool !== undefined) sink.wake()
    return sink
  }
}
