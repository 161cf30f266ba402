// From the options of `homeground tune` to the trainer's settings. The trainer itself checks them; here only what cannot be written down is refused.
import path from 'node:path'
import { HomegroundError, parseInput, readJsonFile } from '@homeground/sdk/trace'
import { z } from 'zod'
import type { TrainSettings } from '../tune/train/index.ts'
import { homegroundFolder } from './run-folder-option.ts'

export interface TuneOptions {
  folder?: string
  settings?: string
  model?: string
  adapter?: string
  data?: string[]
  validation?: string[]
  teacher?: string
  output?: string
  set?: string[]
  gpus?: number
}

type Fields = { [name: string]: unknown }

/** Options win over the file, `--set` over both. `from`: what the output is named after, @default the rows. @throws HomegroundError invalid-argument, not-found, invalid-settings */
export function settingsOf(recipe: TrainSettings['recipe'], options: TuneOptions, from: { name?: string } = {}): TrainSettings {
  const fields = options.settings === undefined ? {} : readSettingsFile(options.settings)
  if (fields['recipe'] !== undefined && fields['recipe'] !== recipe) {
    throw new HomegroundError('invalid-settings', `${options.settings} is for the recipe ${String(fields['recipe'])}`, {
      hint: `run \`homeground tune ${String(fields['recipe'])}\`, or give another file`,
    })
  }
  fields['recipe'] = recipe
  const given: [string, unknown][] = [
    ['model.base', options.model],
    ['model.adapter', options.adapter],
    ['data.train', options.data],
    ['data.validation', options.validation],
    ['distill.teacher', options.teacher],
    ['output', options.output],
    ...(options.set ?? []).map(assignment),
  ]
  for (const [field, value] of given) if (value !== undefined) put(fields, field, value)
  // Without rows `grpo` plays all of the environment's split train.
  if (recipe === 'grpo' && fields['data'] === undefined) put(fields, 'data.train', [])
  if (fields['output'] === undefined) fields['output'] = defaultOutput(recipe, from.name ?? rowsOf(fields), options)
  return parseInput(looseSettings, fields, {
    place: options.settings ?? 'tune',
    what: 'settings for training',
    code: 'invalid-settings',
    hint: `give --model and --data, or a --settings file; homeground tune ${recipe} --help`,
  })
}

const looseSettings: z.ZodType<TrainSettings> = z.looseObject({
  recipe: z.enum(['sft', 'dpo', 'kto', 'grpo', 'distill']),
  model: z.looseObject({ base: z.string() }),
  data: z.looseObject({ train: z.array(z.string()) }),
  output: z.string().min(1),
})

function readSettingsFile(file: string): Fields {
  const value = readJsonFile(file, {
    missing: `there is no settings file ${file}`,
    missingHint: 'mend the path',
    broken: 'mend the file at that place',
    code: 'invalid-settings',
  })
  return parseInput(z.record(z.string(), z.unknown()), value, { place: file, what: 'an object of settings', code: 'invalid-settings' })
}

/** `optimizer.epochs=3`: the value is JSON where it reads as such, else a text. */
function assignment(text: string): [string, unknown] {
  const at = text.indexOf('=')
  if (at < 1) {
    throw new HomegroundError('invalid-argument', `--set ${text} is not FIELD=VALUE`, { hint: 'for example --set optimizer.epochs=3' })
  }
  const value = text.slice(at + 1)
  try {
    return [text.slice(0, at), JSON.parse(value)]
  } catch {
    return [text.slice(0, at), value]
  }
}

function put(fields: Fields, name: string, value: unknown): void {
  const [head = '', ...rest] = name.split('.')
  if (rest.length === 0) {
    fields[head] = value
    return
  }
  const before = fields[head]
  const inner: Fields = typeof before === 'object' && before !== null ? { ...before } : {}
  put(inner, rest.join('.'), value)
  fields[head] = inner
}

/** Named after recipe and rows, so that the same command again goes on with the same run. */
function defaultOutput(recipe: string, from: string, options: TuneOptions): string {
  const name = path.basename(path.resolve(from)).replace(/\.jsonl(\.gz)?$/, '')
  return path.join(homegroundFolder(options.folder), 'models', `${name}-${recipe}`)
}

function rowsOf(fields: Fields): string {
  const data = fields['data']
  return typeof data === 'object' && data !== null && 'train' in data && Array.isArray(data.train) ? String(data.train[0]) : 'rows'
}
