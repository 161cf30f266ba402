// Readers of other instrumentations' spans, tried in this order.
import type { SpanAttributes } from '../span-attributes.ts'
import { openInference } from './openinference.ts'
import { openLlmetry } from './openllmetry.ts'
import { semconv } from './semconv.ts'
import type { ForeignColumns, ForeignReader } from './types.ts'
import { vercelAi } from './vercel-ai.ts'

const readers: readonly ForeignReader[] = [vercelAi, openInference, openLlmetry, semconv]

/** What the first reader that knows the span makes of it. */
export function foreignColumns(attributes: SpanAttributes, name: string): ForeignColumns | undefined {
  for (const reader of readers) {
    const columns = reader.columns(attributes, name)
    if (columns !== undefined) return columns
  }
  return undefined
}

/** By a row's `api`. */
export function foreignReaderOf(api: string): ForeignReader | undefined {
  return readers.find((reader) => reader.api === api)
}
