// Loads the product's agent function and makes sure that its copy of the SDK will notice a replay.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { seamHandshake } from '@homeground/sdk/seam'
import { HomegroundError } from '@homeground/sdk/trace'
import type { RolloutJob } from './types.ts'

export type AgentFunction = (input: unknown) => unknown

/** The function that env.json names, loaded once a process. @throws HomegroundError not-found, invalid-settings, seam-not-found */
export async function loadAgent(job: Pick<RolloutJob, 'harness' | 'folder' | 'arm'>): Promise<AgentFunction> {
  if (job.harness.kind !== 'module') throw new TypeError('not a module harness')
  const [file = '', name = 'default'] = job.harness.module.split('#')
  const absolute = path.resolve(job.arm.cwd ?? job.folder, file)
  const module = await importModule(absolute)
  const agent = module[name]
  if (!isAgent(agent)) {
    const exported = Object.keys(module).join(', ') || 'nothing'
    throw new HomegroundError('invalid-settings', `${absolute} exports no function named ${name}; it exports ${exported}`, {
      hint: 'set harness.module in env.json to file#export, the async function that gets a task’s input',
    })
  }
  if (!seamHandshake()) {
    throw new HomegroundError(
      'seam-not-found',
      `${absolute} was loaded, and no copy of @homeground/sdk in it answered: its tools would run live`,
      {
        hint: 'call homeground({ … }) when the module is loaded and wrap client, tools and agent with it; one version of @homeground/sdk',
      },
    )
  }
  return agent
}

async function importModule(absolute: string): Promise<Record<string, unknown>> {
  try {
    return await import(pathToFileURL(absolute).href)
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new HomegroundError('not-found', `${absolute} cannot be loaded: ${message}`, {
      hint: absolute.endsWith('.ts')
        ? 'name the compiled .js file, or run with a loader (NODE_OPTIONS="--import tsx")'
        : 'check harness.module in env.json; build the product first',
      cause,
    })
  }
}

function isAgent(value: unknown): value is AgentFunction {
  return typeof value === 'function'
}
