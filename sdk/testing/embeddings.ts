// Embeddings for tests: the same text has the same direction, other texts have others. They mean nothing.
import { createHash } from 'node:crypto'

/** The body of an embeddings response, in floats or, as the openai package asks, in base64. */
export function embeddingsBody(request: { readonly [key: string]: unknown }): object {
  const { input, model, encoding_format: format, dimensions } = request
  const texts = (Array.isArray(input) ? input : [input]).map((text) => (typeof text === 'string' ? text : JSON.stringify(text)))
  const size = typeof dimensions === 'number' ? dimensions : 8
  const tokens = Math.ceil(texts.join('').length / 4)
  return {
    object: 'list',
    model: typeof model === 'string' ? model : 'test-model',
    data: texts.map((text, index) => ({ object: 'embedding', index, embedding: written(vectorOf(text, size), format) })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}

/** Of length 1. */
function vectorOf(text: string, size: number): Float32Array {
  const digest = createHash('sha256').update(text).digest()
  const vector = Float32Array.from({ length: size }, (_, index) => (digest[index % digest.length] ?? 0) - 127.5)
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

function written(vector: Float32Array, format: unknown): number[] | string {
  return format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector]
}
