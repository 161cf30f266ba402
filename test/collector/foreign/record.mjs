// One conversation with the model server, recorded by an instrumentation that is really installed, exported over OTLP/HTTP as a product would.
//   OTEL_EXPORTER_OTLP_ENDPOINT=URL node record.mjs homeground|both|traceloop|openinference|opentelemetry|vercel-ai MODEL_SERVER [stream]
import { createRequire } from 'node:module'
import { trace } from '@opentelemetry/api'
import { NodeSDK } from '@opentelemetry/sdk-node'

const require = createRequire(import.meta.url)
const [who, baseURL, mode] = process.argv.slice(2)
const packages = {
  both: () => import('@traceloop/instrumentation-openai'),
  traceloop: () => import('@traceloop/instrumentation-openai'),
  openinference: () => import('@arizeai/openinference-instrumentation-openai'),
  opentelemetry: () => import('@opentelemetry/instrumentation-openai'),
}
const { OpenAIInstrumentation } = (await packages[who]?.()) ?? {}
const instrumentations = OpenAIInstrumentation === undefined ? [] : [new OpenAIInstrumentation()]
const sdk = new NodeSDK({ serviceName: 'shop', instrumentations })
sdk.start()

const parameters = { type: 'object', properties: { q: { type: 'string' } } }
const system = 'Be brief.'
const prompt = 'Find a lamp'

/** Two calls of OpenAI's own client: the model asks for a tool, then answers. */
async function withOpenAi(wrap = (client) => client) {
  const { OpenAI } = require('openai')
  const client = wrap(new OpenAI({ baseURL, apiKey: 'test' }))
  const tools = [{ type: 'function', function: { name: 'look', description: 'Looks', parameters } }]
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: prompt },
  ]
  const ask = async () => {
    const request = { model: 'gpt-4o', messages: [...messages], tools, temperature: 0.5 }
    if (mode !== 'stream') return (await client.chat.completions.create(request)).choices[0].message.tool_calls?.[0]
    // Not the client's own stream helper: Traceloop's patch breaks it.
    let call
    for await (const chunk of await client.chat.completions.create({ ...request, stream: true, stream_options: { include_usage: true } })) {
      const delta = chunk.choices[0]?.delta.tool_calls?.[0]
      if (delta?.id !== undefined) call = { id: delta.id, type: 'function', function: { name: delta.function.name, arguments: '' } }
      if (delta?.function?.arguments !== undefined) call.function.arguments += delta.function.arguments
    }
    return call
  }
  const call = await ask()
  messages.push({ role: 'assistant', content: null, tool_calls: [call] })
  messages.push({ role: 'tool', tool_call_id: call.id, content: 'found' })
  await ask()
}

async function withVercelAi() {
  const { generateText, jsonSchema, stepCountIs, tool } = await import('ai')
  const { createOpenAI } = await import('@ai-sdk/openai')
  await generateText({
    model: createOpenAI({ baseURL, apiKey: 'test' }).chat('gpt-4o'),
    system,
    prompt,
    temperature: 0.5,
    tools: { look: tool({ description: 'Looks', inputSchema: jsonSchema(parameters), execute: async () => 'found' }) },
    stopWhen: stepCountIs(3),
    experimental_telemetry: { isEnabled: true, functionId: 'desk', metadata: { sessionId: 'session-1' } },
  })
}

// Both calls in one trace of the product's own.
await trace.getTracer('shop').startActiveSpan('POST /ask', async (span) => {
  if (who === 'vercel-ai') await withVercelAi()
  else if (who === 'homeground' || who === 'both') {
    const { homeground } = await import('@homeground/sdk')
    const hg = homeground({ project: 'shop', endpoint: process.env.OTEL_EXPORTER_OTLP_ENDPOINT })
    await withOpenAi((client) => hg.wrap(client))
    await hg.shutdown()
  } else await withOpenAi()
  span.end()
})
await sdk.shutdown()
