// Clients of a project whose model calls `hg.fetch` and register do not record, and what to do for each. Told by the names in its package.json: whether they call
// a model, nobody knows but the product.

export interface UnseenClient {
  name: string
  why: string
  /** One sentence: what to do where it calls a model. */
  mend: string
}

const noFetch = 'does not use fetch'
const ownPaths = 'calls an API that is not known to hg.fetch and register'

const clients: readonly [pattern: RegExp, why: string, mend: string][] = [
  [
    /^@aws-sdk\/client-bedrock-(agent-)?runtime$/,
    noFetch,
    'use @anthropic-ai/bedrock-sdk with hg.wrap, or an instrumentation of it with hg.spanProcessor()',
  ],
  [/^axios$/, noFetch, "axios.create({ adapter: 'fetch', env: { fetch: hg.fetch } })"],
  [/^undici$/, noFetch, 'hg.fetch in place of its fetch'],
  [/^node-fetch$/, noFetch, 'hg.fetch in place of it'],
  [/^(got|superagent|request|needle|phin)$/, noFetch, 'call the model with hg.fetch instead'],
  [
    /^(ws|socket\.io-client)$/,
    noFetch,
    'record the turns of a realtime session with hg.agent, its tools with hg.tool, its transcript with hg.io',
  ],
  [/^(@azure\/openai|@azure-rest\/ai-inference)$/, noFetch, 'use AzureOpenAI of the openai package with hg.wrap'],
  [
    /^(@google\/genai|@google\/generative-ai|cohere-ai|ollama)$/,
    ownPaths,
    'its OpenAI-compatible address instead: hg.wrap(new OpenAI({ baseURL }))',
  ],
  [
    /^@ai-sdk\/(google|google-vertex|cohere|amazon-bedrock)$/,
    ownPaths,
    "turn on the AI SDK's telemetry, and give hg.spanProcessor() to a NodeSDK",
  ],
]

/** Of the dependencies of a package.json, development ones aside; none where the text is no package.json. */
export function unseenClients(packageJson: string): UnseenClient[] {
  return dependenciesOf(packageJson).flatMap((name) => {
    const known = clients.find(([pattern]) => pattern.test(name))
    return known === undefined ? [] : [{ name, why: known[1], mend: known[2] }]
  })
}

function dependenciesOf(packageJson: string): string[] {
  try {
    const parsed: unknown = JSON.parse(packageJson)
    const dependencies: unknown = typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, 'dependencies') : undefined
    return typeof dependencies === 'object' && dependencies !== null ? Object.keys(dependencies) : []
  } catch {
    return []
  }
}
