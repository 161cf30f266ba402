// Settings from HOMEGROUND_* environment variables: parsed once at the edge, every fault told at once. Rooms above the store extend the table with their own.
import path from 'node:path'
import { HomegroundError } from '@homeground/sdk/trace'
import { z } from 'zod'

/** Each variable of the store, with what it means as the schema's description. */
export const storeSettings = z.object({
  HOMEGROUND_CLICKHOUSE_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('a ClickHouse server (http or https); without it the embedded engine is used'),
  HOMEGROUND_CLICKHOUSE_USER: z.string().default('default').describe('user of that server'),
  HOMEGROUND_CLICKHOUSE_PASSWORD: z.string().default('').describe('password of that user'),
  HOMEGROUND_CLICKHOUSE_DATABASE: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'a name of letters, digits and _')
    .default('homeground')
    .describe('database that holds the tables; made where it is missing'),
  HOMEGROUND_CLICKHOUSE_CLUSTER: z
    .string()
    .regex(/^[A-Za-z0-9_.-]+$/, 'a name of letters, digits, _ . and -')
    .optional()
    .describe('name of the ClickHouse cluster that the server belongs to: tables are then replicated and sharded by trace'),
  HOMEGROUND_FOLDER: z.string().default('.homeground').describe('folder of the embedded engine, runs and spools'),
})

export type StoreSettings = z.infer<typeof storeSettings>

/**
 * Reads the variables that the schema names; an empty one counts as not set.
 * @throws HomegroundError invalid-settings, which names every variable at fault
 */
export function readSettings<T extends z.ZodRawShape>(
  schema: z.ZodObject<T>,
  environment: Readonly<Record<string, string | undefined>>,
): z.infer<z.ZodObject<T>> {
  const given = Object.keys(schema.shape).flatMap((name) => (environment[name] ? [[name, environment[name]]] : []))
  const result = schema.safeParse(Object.fromEntries(given))
  if (result.success) return result.data
  const faults = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  throw new HomegroundError('invalid-settings', `settings cannot be used:\n${faults.map((fault) => `  ${fault}`).join('\n')}`, {
    hint: 'set the variables named above; `homeground collector --help` lists them all with their meaning',
  })
}

/** The settings as lines for `--help`: name, default, meaning. */
export function describeSettings(schema: z.ZodObject): string[] {
  return Object.entries(schema.shape).map(([name, field]) => {
    const fallback = field instanceof z.ZodDefault ? ` (default ${String(field.def.defaultValue)})` : ''
    return `${name.padEnd(34)} ${field.description ?? ''}${fallback}`
  })
}

/** The engine's place within the folder of HOMEGROUND_FOLDER. */
export function engineFolder(folder: string): string {
  return path.join(folder, 'engine')
}
