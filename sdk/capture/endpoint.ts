// Which requests are model calls, told by the URL alone: the dialect, the operation, the provider. Never reads a query, where keys may be.
import { withoutKeys } from '../privacy/key-patterns.ts'

export interface Endpoint {
  /** The wire dialect, e.g. `openai.chat`; absent where the path is not known. */
  api: string | undefined
  /** `gen_ai.operation.name`. */
  operation: string
  provider: string
  host: string
  port: number | undefined
  /** Where the path names it and the body does not: Vertex, Bedrock, an Azure deployment. */
  model: string | undefined
}

const paths: readonly [pattern: RegExp, api: string, operation: string, provider: string][] = [
  [/\/chat\/completions$/, 'openai.chat', 'chat', 'openai'],
  [/\/responses$/, 'openai.responses', 'chat', 'openai'],
  [/\/v1\/messages$/, 'anthropic.messages', 'chat', 'anthropic'],
  // Counting is a model of its own on Vertex, and no call of one.
  [/\/publishers\/anthropic\/models\/(?!count-tokens:)[^/]+:(stream)?[rR]awPredict$/, 'anthropic.messages', 'chat', 'anthropic'],
  // An inference profile of one's own has an ARN that names no model; who calls it by fetch is Anthropic's client.
  [/\/model\/([^/]*anthropic|arn(:|%3A))[^/]*\/invoke(-with-response-stream)?$/, 'anthropic.messages', 'chat', 'anthropic'],
  [/\/embeddings$/, 'openai.embeddings', 'embeddings', 'openai'],
  [/\/completions$/, 'openai.completions', 'text_completion', 'openai'],
]

/** Host name endings and the GenAI conventions' names for who answers there. */
const providers: readonly [ending: string, provider: string][] = [
  ['api.openai.com', 'openai'],
  ['.openai.azure.com', 'azure.ai.openai'],
  ['.cognitiveservices.azure.com', 'azure.ai.openai'],
  ['.services.ai.azure.com', 'azure.ai.inference'],
  ['api.anthropic.com', 'anthropic'],
  ['-aiplatform.googleapis.com', 'gcp.vertex_ai'],
  ['aiplatform.googleapis.com', 'gcp.vertex_ai'],
  ['generativelanguage.googleapis.com', 'gcp.gemini'],
  ['.amazonaws.com', 'aws.bedrock'],
  ['.api.aws', 'aws.bedrock'],
  ['api.mistral.ai', 'mistral_ai'],
  ['api.deepseek.com', 'deepseek'],
  ['api.groq.com', 'groq'],
  ['api.x.ai', 'x_ai'],
  ['api.perplexity.ai', 'perplexity'],
  ['api.cohere.com', 'cohere'],
]

/** `undefined` where the URL is not one, or not a model call's; with `every`, unknown paths are understood as far as they go. */
export function endpointOf(url: string, every: boolean): Endpoint | undefined {
  const known = recent.get(url)
  if (known !== undefined && known.every === every) return known.endpoint
  const endpoint = readEndpoint(url, every)
  // A long one is a query of its own each time.
  if (url.length > 500) return endpoint
  if (recent.size >= 100) recent.clear()
  recent.set(url, { every, endpoint })
  return endpoint
}

/** A product calls few endpoints, and reading a URL costs as much as the rest of a request. */
const recent = new Map<string, { every: boolean; endpoint: Endpoint | undefined }>()

function readEndpoint(url: string, every: boolean): Endpoint | undefined {
  if (!URL.canParse(url)) return undefined
  const { hostname, pathname, port } = new URL(url)
  const known = paths.find(([pattern]) => pattern.test(pathname))
  if (known === undefined && !every) return undefined
  const [, api, operation, assumed] = known ?? [
    undefined,
    undefined,
    withoutKeys(pathname.split('/').filter(Boolean).slice(-2).join('/')),
    'openai',
  ]
  const provider = providers.find(([ending]) => hostname.endsWith(ending))?.[1] ?? assumed
  return { api, operation, provider, host: hostname, port: port === '' ? undefined : Number(port), model: modelOf(pathname) }
}

function modelOf(pathname: string): string | undefined {
  // Vertex puts the method behind a colon; Bedrock's model names have colons of their own.
  const [, written] = /\/publishers\/[^/]+\/models\/([^/:]+)/.exec(pathname) ?? /\/(?:model|deployments)\/([^/]+)\//.exec(pathname) ?? []
  try {
    return written === undefined ? undefined : decodeURIComponent(written)
  } catch {
    return written
  }
}
