// `homeground gate`: may this candidate go live? Exit 0 promote, 1 do not, 2 wrong use, 3 it failed.
import fs from 'node:fs'
import path from 'node:path'
import { parseInput, readJsonFile } from '@homeground/sdk/trace'
import type { Command } from 'commander'
import { openEnvironment } from '../replay/environment/open.ts'
import { checkGate, type GateResult, type GateRules, gate, gateRulesSchema } from '../tune/gate/index.ts'
import { type GateModels, serveGateModels } from './gate-models.ts'
import { recordGate } from './gate-record.ts'
import { countOf } from './option-values.ts'
import { interruptSignal, progressLine } from './progress.ts'
import { homegroundFolder } from './run-folder-option.ts'
import { folderOption, wantsJson } from './store-options.ts'
import { inert } from './terminal.ts'
import { version } from './version.ts'

interface GateCommandOptions extends GateModels {
  folder?: string
  rules?: string
  repeats?: number
  concurrency?: number
}

export function register(program: Command): void {
  program
    .command('gate')
    .description('promote or not: both models play the held-out tasks of an environment; exit code 0 or 1, for CI')
    .argument('<environment>', 'the environment folder')
    .requiredOption('--baseline <MODEL>', 'what is live: a model or adapter folder, or a name at --url')
    .requiredOption('--candidate <MODEL>', 'what may replace it: a folder, or a name at --url')
    .addOption(folderOption())
    .option('--rules <FILE>', 'gate.json (default: the one in the environment folder, else the defaults)')
    .option('--url <URL>', 'base URL of the endpoint, for models that are names')
    .option('--api-key-env <NAME>', 'environment variable that holds its key')
    .option('--max-tokens <N>', 'of one answer; a model that never stops is cut there (default: 512 for served folders)', countOf)
    .option('--repeats <N>', 'over the rules: how often each model plays each task', countOf)
    .option('--concurrency <N>', 'rollouts at a time', countOf)
    .action(async (folder: string, options: GateCommandOptions, command: Command) => {
      const result = await run(folder, options, wantsJson(command))
      process.stdout.write(wantsJson(command) ? `${JSON.stringify(result.promotion)}\n` : gateText(result))
      if (!result.promotion.promoted) process.exitCode = 1
    })
}

async function run(folder: string, options: GateCommandOptions, json: boolean): Promise<GateResult> {
  const environment = await openEnvironment(folder)
  const home = homegroundFolder(options.folder)
  const progress = progressLine('rollouts', { json })
  try {
    const read = readRules(options.rules ?? path.join(folder, 'gate.json'), options.rules !== undefined)
    const rules = options.repeats === undefined ? read : { ...read, repeats: options.repeats }
    await checkGate(environment, { rules, folder: home })
    await using models = await serveGateModels(options)
    const result = await gate(environment, {
      baseline: models.baseline,
      candidate: models.candidate,
      rules,
      folder: home,
      homeground: version,
      concurrency: options.concurrency ?? 4,
      signal: interruptSignal(),
      onProgress: ({ done, planned, errors }) => progress.show(done, planned, errors === 0 ? '' : `${errors} failed`),
    })
    recordGate(options.candidate, result)
    for (const warning of result.warnings) process.stderr.write(`warning: ${inert(warning)}\n`)
    return result
  } finally {
    progress.end()
    await environment.close()
  }
}

/** @throws HomegroundError not-found, invalid-settings */
function readRules(file: string, named: boolean): GateRules {
  if (!named && !fs.existsSync(file)) return gateRulesSchema.parse({})
  const hint = 'docs/tune.md lists them'
  const value = readJsonFile(file, {
    missing: `there are no rules in ${inert(file)}`,
    missingHint: 'check the path given with --rules',
    broken: hint,
    code: 'invalid-settings',
  })
  return parseInput(gateRulesSchema, value, { place: file, what: 'rules for a gate', code: 'invalid-settings', hint })
}

function gateText({ promotion, record }: GateResult): string {
  const score = (value: number | null): string => (value === null ? 'none' : value.toFixed(3))
  const lines = [
    promotion.promoted ? 'PROMOTE' : 'DO NOT PROMOTE',
    `  baseline  ${score(promotion.baseline.score)}  ${inert(promotion.baseline.model)}`,
    `  candidate ${score(promotion.candidate.score)}  ${inert(promotion.candidate.model)}`,
    ...promotion.checks.map((check) => `  ${check.passed ? 'ok ' : 'NO '} ${check.rule}: ${inert(check.says)}`),
    `  ${inert(promotion.sentence)}`,
    `  gate ${promotion.gate} on this ${promotion.split} split; ${path.relative(process.cwd(), record)} and report.html beside it`,
  ]
  return `${lines.join('\n')}\n`
}
