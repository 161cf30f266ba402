// Every command, in the order that `homeground --help` lists them. A command file exports `register(program)`.
import type { Command } from 'commander'

interface CommandFile {
  register(program: Command): void
}

/** A command's file is read only when it is called for: what one command imports is not what every other waits for. */
export const commands: Readonly<Record<string, () => Promise<CommandFile>>> = {
  up: () => import('./up.ts'),
  doctor: () => import('./doctor.ts'),
  collector: () => import('./collector.ts'),
  keys: () => import('./keys.ts'),
  dlq: () => import('./dlq.ts'),
  erase: () => import('./erase.ts'),
  retention: () => import('./retention.ts'),
  backup: () => import('./backup.ts'),
  restore: () => import('./restore.ts'),
  import: () => import('./import.ts'),
  traces: () => import('./traces.ts'),
  env: () => import('./env.ts'),
  grade: () => import('./grade.ts'),
  label: () => import('./label.ts'),
  run: () => import('./run.ts'),
  worker: () => import('./worker.ts'),
  rescore: () => import('./rescore.ts'),
  compare: () => import('./compare.ts'),
  prefer: () => import('./prefer.ts'),
  dataset: () => import('./dataset.ts'),
  tune: () => import('./tune.ts'),
  gate: () => import('./gate.ts'),
  serve: () => import('./serve-model.ts'),
  loop: () => import('./loop.ts'),
}

/** Registers the command that the arguments name; all of them when they name none (help, a misspelt command). */
export async function registerCommands(program: Command, args: readonly string[]): Promise<void> {
  const name = args.find((argument) => !argument.startsWith('-')) ?? ''
  const named = Object.hasOwn(commands, name) ? commands[name] : undefined
  const files = await Promise.all((named ? [named] : Object.values(commands)).map((load) => load()))
  for (const file of files) file.register(program)
}
