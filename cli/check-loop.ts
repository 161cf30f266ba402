// Holds loop.json against the commands that it will run, before any of them runs: a misspelt option would else be told after hours of rollouts, and one that
// the loop gives itself (`split`, `out`) would send a step elsewhere, into the test split for one.
import { HomegroundError } from '@homeground/sdk/trace'
import { Command, CommanderError, type Option } from 'commander'
import { type CommandOptions, formatsOf, type LoopFile, type PlannedStep, planIteration } from '../tune/loop/index.ts'
import { checkSettings, pythonState, requirePython } from '../tune/train/index.ts'
import { inert } from './terminal.ts'
import { settingsOf } from './tune-settings.ts'

export interface CheckLoopOptions {
  /** Of loop.json. */
  file: string
  /** Homeground's folder. */
  folder: string
  /** Without the trainer's Python its settings are left for later; else that is an error. */
  dryRun: boolean
}

/** @throws HomegroundError invalid-settings with every option that is wrong; python-missing; what the trainer says of its settings */
export async function checkLoop(loop: LoopFile, options: CheckLoopOptions): Promise<void> {
  const program = await commandsOfSteps()
  const bare = planIteration(
    { ...loop, build: {}, dataset: {}, gate: { ...loop.gate, options: {} }, ...(loop.rollouts === undefined ? {} : { rollouts: {} }) },
    { folder: 'loop', live: loop.tune.base },
  )
  const given: [name: PlannedStep['name'], field: string, options: CommandOptions][] = [
    ['build', 'build', loop.build],
    ['rollouts', 'rollouts', loop.rollouts ?? {}],
    ['dataset', 'dataset', loop.dataset],
    ['gate', 'gate.options', loop.gate.options],
  ]
  const faults = given.flatMap(([name, field, values]) => {
    const step = bare.find((each) => each.name === name)
    // The format is the recipe's only where none is given.
    const own = step?.command.filter((word) => word !== '--format') ?? []
    return step === undefined ? [] : faultsOf(values, field, commandOf(program, step.command), own)
  })
  const formats = formatsOf[loop.tune.recipe]
  const { format } = loop.dataset
  if (format !== undefined && !formats.includes(String(format))) {
    faults.push(`dataset.format: tune ${loop.tune.recipe} takes ${formats.join(' or ')}, not ${inert(String(format))}`)
  }
  if (faults.length > 0) {
    throw new HomegroundError('invalid-settings', `${options.file}: ${faults.join('\n  ')}`, {
      hint: 'mend what is named; docs/tune.md shows a loop.json',
    })
  }
  await checkTraining(loop, options)
}

async function checkTraining({ tune }: LoopFile, { file, folder, dryRun }: CheckLoopOptions): Promise<void> {
  if (dryRun && pythonState({ folder }).fault !== undefined) return
  const python = requirePython({ folder })
  const set = Object.entries(tune.settings).map(([field, value]) => `${field}=${value}`)
  // The rows are still to come: a file that is there stands for them.
  await checkSettings(settingsOf(tune.recipe, { model: tune.base, data: [file], output: 'model', set }), { python })
}

async function commandsOfSteps(): Promise<Command> {
  const program = new Command()
  const files = [import('./env.ts'), import('./run.ts'), import('./dataset.ts'), import('./gate.ts')]
  for (const { register } of await Promise.all(files)) register(program)
  return program
}

function commandOf(program: Command, words: readonly string[]): Command {
  let found = program
  for (const word of words.slice(1)) {
    const inner = found.commands.find((each) => each.name() === word)
    if (inner === undefined) break
    found = inner
  }
  return found
}

function faultsOf(values: CommandOptions, field: string, command: Command, own: readonly string[]): string[] {
  const name = [command.parent?.name(), command.name()].filter((each) => each !== undefined && each !== '').join(' ')
  return Object.entries(values).flatMap(([key, value]) => {
    const at = `${field}.${key}: `
    if (own.includes(`--${key}`)) return [`${at}the loop gives this one itself`]
    const option = command.options.find((each) => each.long === `--${key}`)
    if (option === undefined) return [`${at}${name} has no option --${key}; \`homeground ${name} --help\` lists them`]
    return faultOfValue(option, value).map((fault) => `${at}${fault}`)
  })
}

function faultOfValue(option: Option, value: CommandOptions[string]): string[] {
  if (option.isBoolean()) return typeof value === 'boolean' ? [] : ['a switch: true or false']
  if (typeof value === 'boolean') return value && option.required ? ['it wants a value'] : []
  return [value].flat().flatMap((each) => {
    try {
      option.parseArg?.(String(each), undefined)
      return []
    } catch (error) {
      if (error instanceof CommanderError || error instanceof HomegroundError) return [error.message]
      // One that adds to what was given before.
      return []
    }
  })
}
