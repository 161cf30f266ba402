// HTTP clients of a project whose model calls cannot be recorded at `fetch`, and what to do for each. Told by the names in its package.json: whether they call
// a model, nobody knows but the product.

export interface UnseenClient {
  name: string
  /** One sentence: what to do where it calls a model. */
  mend: string
}

const gotLike = 'call the model with hg.fetch instead'

const clients: readonly [pattern: RegExp, mend: string][] = [
  [
    /^@aws-sdk\/client-bedrock-(agent-)?runtime$/,
    'use @anthropic-ai/bedrock-sdk with hg.wrap, or an instrumentation of it with hg.spanProcessor()',
  ],
  [/^axios$/, "axios.create({ adapter: 'fetch', env: { fetch: hg.fetch } })"],
  [/^undici$/, 'hg.fetch in place of its fetch'],
  [/^node-fetch$/, 'hg.fetch in place of it'],
  [/^(got|superagent|request|needle|phin)$/, gotLike],
  [/^(ws|socket\.io-client)$/, 'record the turns of a realtime session with hg.agent, its tools with hg.tool, its transcript with hg.io'],
  [/^(@azure\/openai|@azure-rest\/ai-inference)$/, 'use AzureOpenAI of the openai package with hg.wrap'],
]

/** Of the dependencies of a package.json, development ones aside; none where the text is no package.json. */
export function unseenClients(packageJson: string): UnseenClient[] {
  return dependenciesOf(packageJson).flatMap((name) => {
    const known = clients.find(([pattern]) => pattern.test(name))
    return known === undefined ? [] : [{ name, mend: known[1] }]
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
