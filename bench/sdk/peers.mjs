// How each peer, and ours, is switched on: as its own documentation says. Each gives `wrap(client)` and `flush()`; `homeground.agent`
// makes each call in an agent's run, by its `around`.

export const peers = ['traceloop', 'openinference', 'langfuse', 'langsmith', 'braintrust']

export async function instrument(name, sink) {
  switch (name) {
    case 'none':
      return { wrap: (client) => client, flush: async () => undefined }
    case 'homeground':
    case 'homeground.agent': {
      const { homeground } = await import('../../sdk/dist/index.js')
      const hg = homeground({ project: 'bench', endpoint: sink })
      const ours = { wrap: (client) => hg.wrap(client), flush: () => hg.flush(), stats: () => hg.stats() }
      return name === 'homeground' ? ours : { ...ours, around: (call) => hg.agent('bench', call) }
    }
    case 'traceloop': {
      const traceloop = await import('@traceloop/node-server-sdk')
      const { default: OpenAI } = await import('openai')
      traceloop.initialize({
        baseUrl: sink,
        apiKey: 'x',
        disableBatch: false,
        instrumentModules: { openAI: OpenAI },
        silenceInitializationMessage: true,
        tracingEnabled: true,
      })
      return { wrap: (client) => client, flush: () => traceloop.forceFlush() }
    }
    case 'openinference': {
      const { NodeTracerProvider, BatchSpanProcessor } = await import('@opentelemetry/sdk-trace-node')
      const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto')
      const { OpenAIInstrumentation } = await import('@arizeai/openinference-instrumentation-openai')
      const { default: OpenAI } = await import('openai')
      const exporter = new OTLPTraceExporter({ url: `${sink}/v1/traces` })
      const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter, { maxQueueSize: 100_000 })] })
      provider.register()
      const instrumentation = new OpenAIInstrumentation()
      instrumentation.setTracerProvider(provider)
      instrumentation.manuallyInstrument(OpenAI)
      return { wrap: (client) => client, flush: () => provider.forceFlush() }
    }
    case 'langfuse': {
      const { NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node')
      const { LangfuseSpanProcessor } = await import('@langfuse/otel')
      const { observeOpenAI } = await import('@langfuse/openai')
      const processor = new LangfuseSpanProcessor({ publicKey: 'x', secretKey: 'y', baseUrl: sink })
      new NodeTracerProvider({ spanProcessors: [processor] }).register()
      return { wrap: (client) => observeOpenAI(client), flush: () => processor.forceFlush() }
    }
    case 'langsmith': {
      process.env.LANGSMITH_TRACING = 'true'
      const { wrapOpenAI } = await import('langsmith/wrappers')
      const { Client } = await import('langsmith')
      const client = new Client({ apiUrl: sink, apiKey: 'x' })
      return { wrap: (openai) => wrapOpenAI(openai, { client }), flush: () => client.awaitPendingTraceBatches() }
    }
    case 'braintrust': {
      const braintrust = await import('braintrust')
      const logger = braintrust.initLogger({
        projectName: 'p',
        apiKey: 'x',
        appUrl: sink,
        asyncFlush: true,
        projectId: '11111111-1111-1111-1111-111111111111',
      })
      return { wrap: (client) => braintrust.wrapOpenAI(client), flush: () => logger.flush() }
    }
    default:
      throw new Error(`unknown peer: ${name}; expected none, homeground or one of ${peers.join(', ')}`)
  }
}
