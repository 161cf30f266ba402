// Loads the product's agent function and makes sure that its copy of the SDK will notice a replay.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Seam, seamHandshake, withSeam } from '@homeground/sdk/seam'
import { errorText, HomegroundError } from '@homeground/sdk/trace'
import type { RolloutJob } from './types.ts'

export type AgentFunction = (...args: unknown[]) => unknown

/** The function that env.json names, loaded once a process. @throws HomegroundError not-found, invalid-settings, seam-not-found */
export async function loadAgent(job: Pick<RolloutJob, 'harness' | 'folder' | 'arm'>): Promise<AgentFunction> {
  if (job.harness.kind !== 'module') throw new TypeError('not a module harness')
  const [file = '', name = 'default'] = job.harness.module.split('#')
  const absolute = path.resolve(job.arm.cwd ?? job.folder, file)
  const module = await loadInert(absolute)
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

/** Loading must start nothing: a module that runs its agent while it is loaded would call models and tools before any rollout, with nobody to answer from the tape. */
async function loadInert(absolute: string): Promise<Record<string, unknown>> {
  const refused = new AbortController()
  const refuse = (what: string): never => {
    const error = new HomegroundError(
      'invalid-settings',
      `${absolute} ${what} while it is being loaded; a replay has let nothing of it happen`,
      {
        hint: 'export the agent from a file that starts nothing, and import it from the one that runs it; then set harness.module to the first',
      },
    )
    refused.abort(error)
    throw error
  }
  const seam: Seam = {
    model: async ({ method, url }) => refuse(`calls a model (${method} ${url})`),
    tool: async ({ name }) => refuse(`calls the tool ${name}`),
  }
  const ended = new Promise<never>((_, reject) => {
    refused.signal.addEventListener('abort', () => reject(refused.signal.reason), { once: true })
  })
  ended.catch(() => {})
  const loading = withSeam({ seam, state: { attributes: {}, record: () => {} }, signal: refused.signal }, () => importModule(absolute))
  loading.catch(() => {})
  const module = await Promise.race([loading, ended]).catch((error: unknown) => {
    throw refused.signal.aborted ? refused.signal.reason : error
  })
  if (refused.signal.aborted) throw refused.signal.reason
  return module
}

async function importModule(absolute: string): Promise<Record<string, unknown>> {
  try {
    return await import(pathToFileURL(absolute).href)
  } catch (cause) {
    const message = errorText(cause)
    throw new HomegroundError('not-found', `${absolute} cannot be loaded: ${message}`, {
      hint: absolute.endsWith('.ts')
        ? 'build the product and name the compiled .js file'
        : 'check harness.module in env.json and build the product; what it needs when it is loaded (variables, files) must be there, keys may be any text',
      cause,
    })
  }
}

function isAgent(value: unknown): value is AgentFunction {
  return typeof value === 'function'
}
