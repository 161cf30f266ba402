// The contract of another instrumentation's reader: which spans are its own, what their columns are, and what their attributes say in the canonical form.
import type { CanonicalRequest } from '../dialects/dialect.ts'
import type { Json, Message } from '../episode.ts'
import type { SpanRow } from '../row.ts'
import type { SpanAttributes } from '../span-attributes.ts'

/** Attributes as they were sent, under their full names: a model row's `requestBody`. */
export type ForeignBody = { readonly [name: string]: Json }

/** Columns that the reader fills; the others keep what the GenAI conventions' names say. */
export type ForeignColumns = Pick<SpanRow, 'kind'> & Partial<SpanRow>

export interface ForeignReader {
  /** The row's `api`. */
  readonly api: string
  /** Undefined where the span is not of this instrumentation. Takes the attributes that it reads. Never throws. */
  columns(attributes: SpanAttributes, name: string): ForeignColumns | undefined
  readRequest(body: ForeignBody): CanonicalRequest
  readOutputs(body: ForeignBody): Message[]
  /** One an output, where the body says why the model stopped and the columns may not. */
  readFinishReasons?(body: ForeignBody): string[] | undefined
}
