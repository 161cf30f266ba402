// The commands of one iteration, from loop.json. Each is one that a person could type; each goes on where it stopped when it is run again.
import path from 'node:path'
import type { CommandOptions, Iteration, LoopFile, PlannedStep } from './types.ts'

export interface IterationPlace {
  /** Of this iteration. */
  folder: string
  /** What is live: the model that was promoted last, else the base. */
  live: string
  /** What the rollouts of an earlier iteration cost. */
  played?: NonNullable<Iteration['rollouts']>
}

export interface IterationFiles {
  environment: string
  rollouts: string
  rows: string
  model: string
  validationRules: string
  rules: string
}

/** Where things of an iteration lie. */
export function iterationFiles(folder: string): IterationFiles {
  return {
    environment: path.join(folder, 'environment'),
    rollouts: path.join(folder, 'rollouts'),
    rows: path.join(folder, 'rows.jsonl'),
    model: path.join(folder, 'model'),
    validationRules: path.join(folder, 'validation-rules.json'),
    rules: path.join(folder, 'gate-rules.json'),
  }
}

/** Formats of rows that a recipe trains on, the usual one first. */
export const formatsOf: Readonly<Record<LoopFile['tune']['recipe'], readonly [string, ...string[]]>> = {
  sft: ['trl-sft', 'trl-tokens', 'openai-sft'],
  dpo: ['trl-dpo'],
  kto: ['trl-kto'],
}

/** In order. */
export function planIteration(loop: LoopFile, place: IterationPlace): PlannedStep[] {
  const files = iterationFiles(place.folder)
  const settings = Object.entries(loop.tune.settings).map(([field, value]) => `${field}=${value}`)
  const sides = ['--baseline', place.live, '--candidate', files.model, ...flags(loop.gate.options)]
  const steps: PlannedStep[] = [
    { name: 'collect', command: ['--json', 'traces', 'list'], cost: 'nothing' },
    {
      name: 'build',
      command: ['--json', 'env', 'build', loop.name, '--project', loop.collect.project, '--out', files.environment, ...flags(loop.build)],
      cost: 'nothing',
    },
    {
      name: 'verify',
      command: ['--json', 'env', 'verify', files.environment, '--threshold', String(loop.verify.threshold)],
      cost: 'no model call: recordings are replayed',
    },
  ]
  if (loop.audit) {
    steps.push({
      name: 'audit',
      command: ['--json', 'env', 'audit', files.environment],
      cost: 'no model call, but for judges among the graders',
    })
  }
  if (loop.rollouts !== undefined) {
    steps.push({
      name: 'rollouts',
      command: ['--json', 'run', files.environment, '--split', 'train', '--out', files.rollouts, ...flags(loop.rollouts)],
      cost: `each training task, by each arm, each repeat: ${costOf(place.played)}`,
    })
  }
  return [
    ...steps,
    {
      name: 'dataset',
      command: [
        '--json',
        'dataset',
        loop.rollouts === undefined ? files.environment : files.rollouts,
        '--split',
        'train',
        '--out',
        files.rows,
        ...flags({ format: formatsOf[loop.tune.recipe][0], ...loop.dataset }),
      ],
      cost: 'nothing',
    },
    {
      name: 'tune',
      command: [
        ...['--json', 'tune', loop.tune.recipe, '--model', loop.tune.base, '--data', files.rows, '--output', files.model],
        ...(settings.length === 0 ? [] : ['--set', ...settings]),
      ],
      cost: 'time of this machine',
    },
    {
      name: 'select',
      command: ['--json', 'gate', files.environment, '--rules', files.validationRules, ...sides],
      cost: 'each validation task, by both models',
    },
    {
      name: 'gate',
      command: ['--json', 'gate', files.environment, '--rules', files.rules, ...sides],
      cost: 'each test task, by both models',
    },
  ]
}

function costOf(played: IterationPlace['played']): string {
  if (played === undefined) return 'known after the first iteration'
  const price = played.costUsd === undefined ? 'price not known' : `$${played.costUsd.toFixed(2)}`
  return `${played.count} rollouts, ${price}, in an earlier iteration`
}

function flags(options: CommandOptions): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    if (value === false) return []
    if (value === true) return [`--${name}`]
    if (Array.isArray(value)) return value.flatMap((each) => [`--${name}`, each])
    return [`--${name}`, String(value)]
  })
}
