// The part of Standard Schema (standardschema.dev) that tools need: validation, and the JSON Schema of the input. zod 4, valibot and arktype fit.

import type { Json } from '../trace/episode.ts'
import { HomegroundError } from '../trace/error.ts'
import { isJson } from '../trace/json.ts'
import { errorOf } from './error-of.ts'

/** What is used of a Standard Schema (zod, valibot, arktype, …). */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly jsonSchema?: { readonly input: (options: { target: 'draft-2020-12' }) => Record<string, unknown> } | undefined
  }
}

/** What a Standard Schema's validation gives: the value, or what is wrong with it. */
export type SchemaResult<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] }

/** One thing that is wrong with a value, and where in it. */
export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A plain JSON Schema; its arguments are not validated. */
export interface JsonSchema {
  readonly [key: string]: unknown
}

/** What `execute` gets for these parameters. */
export type ArgumentsOf<Parameters> = Parameters extends StandardSchema<unknown, infer Output> ? Output : Record<string, unknown>

export function isStandardSchema(parameters: unknown): parameters is StandardSchema {
  return typeof parameters === 'object' && parameters !== null && '~standard' in parameters
}

/**
 * The JSON Schema that the model gets: of the input, before defaults and transforms, without `$schema` (some providers refuse it).
 * @throws HomegroundError invalid-argument where the schema library cannot give one
 */
export function inputJsonSchema(tool: string, parameters: StandardSchema | JsonSchema): Json {
  const schema = isStandardSchema(parameters) ? schemaGiven(tool, parameters) : parameters
  if (typeof schema !== 'object' || schema === null) {
    throw new HomegroundError('invalid-argument', `tool ${tool}: its schema cannot give a JSON Schema`, {
      hint: 'Use zod 4.2 or newer, or give `parameters` as a JSON Schema object.',
    })
  }
  const { $schema: _, ...rest } = schema
  const value: unknown = structuredClone(rest)
  if (isJson(value)) return value
  throw new HomegroundError('invalid-argument', `tool ${tool}: its JSON Schema holds something that is no JSON`, {
    hint: 'Give `parameters` as plain JSON.',
  })
}

/** zod refuses what JSON Schema cannot say: dates, maps, bigints. */
function schemaGiven(tool: string, parameters: StandardSchema): Record<string, unknown> | undefined {
  try {
    return parameters['~standard'].jsonSchema?.input({ target: 'draft-2020-12' })
  } catch (error) {
    throw new HomegroundError('invalid-argument', `tool ${tool}: its schema cannot give a JSON Schema: ${errorOf(error).message}`, {
      hint: 'Take what JSON has: a date as z.iso.datetime(), a bigint as text, a map as z.record().',
      cause: error,
    })
  }
}

/** May throw, or reject, as the schema does. */
export async function validated(schema: StandardSchema, value: unknown): Promise<SchemaResult<unknown>> {
  const standard = schema['~standard']
  const whole: unknown = Reflect.get(schema, 'safeParseAsync')
  if (standard.vendor !== 'zod' || typeof whole !== 'function') return await standard.validate(value)
  // zod's `validate` first tries without promises: it runs an asynchronous refinement twice, and where the first one rejects nobody holds its promise.
  const result: { success: true; data: unknown } | { success: false; error: { issues: SchemaIssue[] } } = await Reflect.apply(
    whole,
    schema,
    [value],
  )
  return result.success ? { value: result.data } : { issues: result.error.issues }
}

/** "amount: Invalid input: expected number; reason: …" */
export function issuesText(issues: readonly SchemaIssue[]): string {
  return issues
    .map(({ path = [], message }) => {
      const place = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
      return place === '' ? message : `${place}: ${message}`
    })
    .join('; ')
}
