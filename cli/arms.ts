// The arms of a command line: models given by name, and those of a file.
import { HomegroundError, type Json, parseInput, parseJson, readJsonFile } from '@homeground/sdk/trace'
import { z } from 'zod'
import { type Arm, armSchema } from '../replay/run/types.ts'
import { inert } from './terminal.ts'

export interface ArmOptions {
  arm: Arm[]
  arms?: string
  url?: string
  api?: Arm['api']
  apiKeyEnv?: string
  parameters?: Record<string, Json>
}

/**
 * Those of the command line, then those of the file; each with the common settings where it names none.
 * @throws HomegroundError invalid-argument, invalid-input for a broken file
 */
export function armsOf(options: ArmOptions): Arm[] {
  const common = {
    ...(options.url === undefined ? {} : { url: options.url }),
    ...(options.api === undefined ? {} : { api: options.api }),
    ...(options.apiKeyEnv === undefined ? {} : { apiKeyEnv: options.apiKeyEnv }),
    ...(options.parameters === undefined ? {} : { parameters: options.parameters }),
  }
  const arms = [...options.arm, ...(options.arms === undefined ? [] : readArms(options.arms))]
  return arms.map((arm) =>
    parseInput(armSchema, { ...common, ...arm }, { place: `arm ${inert(arm.name)}`, what: 'an arm', code: 'invalid-argument' }),
  )
}

/** One `--arm NAME=MODEL` behind the earlier ones. */
export function armOf(text: string, previous: Arm[]): Arm[] {
  const at = text.indexOf('=')
  if (at > 0 && at < text.length - 1) return [...previous, { name: text.slice(0, at), model: text.slice(at + 1) }]
  throw new HomegroundError('invalid-argument', `--arm ${inert(text)} is not NAME=MODEL`, {
    hint: 'for example --arm candidate=gpt-4o-mini',
  })
}

/** `--parameters JSON`. */
export function parametersOf(text: string): Record<string, Json> {
  const value = parseJson(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new HomegroundError('invalid-argument', `--parameters ${inert(text)} is not a JSON object`, {
    hint: `for example --parameters '{"temperature":0}'`,
  })
}

function readArms(file: string): Arm[] {
  const value = readJsonFile(file, { missingHint: 'check the path given with --arms', broken: 'mend the file' })
  return parseInput(z.array(armSchema), value, {
    place: file,
    what: `a list of arms, each { ${Object.keys(armSchema.shape).join(', ')} } with a name and a model`,
  })
}
