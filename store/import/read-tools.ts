// A file of tools: a JSON array of definitions, flat or as OpenAI wraps them, each with an `effect` (none, read, write) where it is known.
import { type Json, parseInput, readJsonFile } from '@homeground/sdk/trace'
import { z } from 'zod'
import type { ImportedTool } from './types.ts'

const effect = z.enum(['none', 'read', 'write', 'unknown']).exactOptional()
const definition = z.looseObject({ name: z.string().min(1), effect })
const toolSchema = z.union([z.looseObject({ type: z.literal('function'), function: definition, effect }), definition])
const fileSchema = z.array(toolSchema)

/** @throws HomegroundError not-found, invalid-input: the file and the entry */
export async function readTools(file: string): Promise<ImportedTool[]> {
  const tools = parseInput(
    fileSchema,
    readJsonFile(file, { missingHint: 'check the path given to --tools', broken: 'give a JSON array of tool definitions' }),
    {
      place: file,
      what: 'a list of tools [{ name, description, parameters, effect }]',
    },
  )
  return tools.map((tool) => {
    const flat = 'function' in tool ? definition.parse(tool.function) : tool
    const { effect: inner, type: _, ...definitionFields } = flat
    const outer = 'function' in tool ? tool.effect : undefined
    return {
      name: flat.name,
      // Read from JSON text, so JSON it is.
      definition: { type: 'function', function: definitionFields as Json },
      effect: (typeof outer === 'string' ? outer : inner) ?? 'unknown',
    }
  })
}
