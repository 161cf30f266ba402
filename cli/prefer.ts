// `homeground prefer RUN`: a judge says which of two arms' episodes of a task is better, asked in both orders.
import { HomegroundError } from '@homeground/sdk/trace'
import type { Command } from 'commander'
import { estimatePreferences, type PreferenceEstimate, PreferenceFile, type Preferences, preferRun } from '../replay/compare/index.ts'
import { readPrices, systemJudgeDeps } from '../replay/rubric/index.ts'
import { openRun } from '../replay/run/open-run.ts'
import { countOf, dollarsOf } from './option-values.ts'
import { progressLine } from './progress.ts'
import { runFolder } from './run-folder-option.ts'
import { folderOption, wantsJson } from './store-options.ts'
import { inert } from './terminal.ts'

interface PreferCommandOptions {
  folder?: string
  a?: string
  b?: string
  judge: string
  url?: string
  apiKeyEnv?: string
  instructions: string
  limit?: number
  concurrency: number
  maxCost?: number
  dryRun?: true
}

const everyJudgeTimeMs = 120_000

export function register(program: Command): void {
  program
    .command('prefer')
    .description("which of two arms' episodes a judge prefers, task by task, asked in both orders")
    .argument('<run>', 'a run folder, or the id of a run')
    .addOption(folderOption())
    .requiredOption('--judge <MODEL>', 'the judge')
    .option(
      '--instructions <TEXT>',
      'what better means',
      'The one that does better what the user asked for, correctly and without needless steps.',
    )
    .option('--a <ARM>', 'the baseline (default: the first arm)')
    .option('--b <ARM>', 'the candidate (default: the other, where there are two)')
    .option('--url <URL>', 'base URL of the judge (default: HOMEGROUND_JUDGE_URL, else OPENAI_BASE_URL)')
    .option('--api-key-env <NAME>', 'environment variable that holds its key')
    .option('--limit <N>', 'so many pairs at most, spread over the run', countOf)
    .option('--concurrency <N>', 'pairs at a time', countOf, 4)
    .option('--max-cost <DOLLARS>', "begin no further pair once the judge's answers have cost so much", dollarsOf)
    .option('--dry-run', 'print what the judge is expected to be asked and to cost, and do nothing')
    .action(async (given: string, options: PreferCommandOptions, command: Command) => {
      const json = wantsJson(command)
      const run = await openRun(runFolder(given, options.folder))
      const arms = run.file.arms.map(({ name }) => name)
      const baseline = options.a ?? arms.find((name) => name !== options.b)
      const others = arms.filter((name) => name !== baseline)
      const candidate = options.b ?? (others.length === 1 ? others[0] : undefined)
      if (baseline === undefined || candidate === undefined || baseline === candidate) {
        throw new HomegroundError('invalid-argument', 'two different arms are needed', {
          hint: `give --a and --b; the arms are ${arms.join(', ')}`,
        })
      }
      const progress = progressLine('pairs', { json })
      const question = {
        model: options.judge,
        instructions: options.instructions,
        url: options.url,
        apiKeyEnv: options.apiKeyEnv,
        parameters: {},
        timeoutMs: everyJudgeTimeMs,
      }
      const { concurrency, limit, maxCost } = options
      const file = await PreferenceFile.open(run.folder, { baseline, candidate, question })
      const asked = {
        ...{ baseline, candidate, question, prices: readPrices(), earlier: file.find },
        ...(limit === undefined ? {} : { limit }),
      }
      if (options.dryRun === true) {
        const estimate = await estimatePreferences(run, asked)
        process.stdout.write(json ? `${JSON.stringify(estimate)}\n` : estimateText(estimate))
        return
      }
      let pairs = 0
      let answered = 0
      let fault: string | undefined
      const preferences = await preferRun(
        run,
        {
          ...asked,
          concurrency,
          ...(maxCost === undefined ? {} : { maxCostUsd: maxCost }),
          onEstimate: (estimate) => {
            pairs = estimate.pairs
            if (!json) process.stderr.write(estimateText(estimate))
          },
          onPreference: async (pair) => {
            await file.add(pair)
            if (pair.value === null) fault ??= pair.reason
            progress.show(++answered, pairs)
          },
        },
        systemJudgeDeps,
      )
      progress.end()
      await file.close()
      process.stdout.write(json ? `${JSON.stringify({ ...preferences, file: file.path })}\n` : preferText(preferences, fault, file.path))
      if (preferences.stopped !== undefined) {
        process.stderr.write(`stopped: --max-cost $${maxCost} is spent after ${answered} of ${pairs} pairs; the same command goes on\n`)
        process.exitCode = 1
      }
      // A judge that never answered says nothing of the arms.
      if (preferences.share === null) process.exitCode = 3
    })
}

function estimateText({ pairs, judges: { calls, inputTokens, outputTokens, costUsd } }: PreferenceEstimate): string {
  const cost = costUsd === undefined ? 'no price is known: HOMEGROUND_PRICES may name a file that has it' : `~${dollarsText(costUsd)}`
  return `${pairs} pairs, the judge is asked ${calls} times: ~${inputTokens}/${outputTokens} tokens, from the length of the text; ${cost}\n`
}

function dollarsText(usd: number): string {
  return `$${usd.toFixed(usd >= 1 ? 2 : 4)}`
}

function preferText(found: Preferences, fault: string | undefined, file: string): string {
  const [a, b] = [inert(found.baseline), inert(found.candidate)]
  const { share } = found
  return [
    share === null
      ? 'the judge gave no verdict at all'
      : `${b} is preferred to ${a} by ${(share.mean * 100).toFixed(1)} % (95 % interval ${(share.low * 100).toFixed(1)} to ${(share.high * 100).toFixed(1)} %, ${share.sessions} sessions; 50 % is neither)`,
    `${found.wins} for ${b}, ${found.losses} for ${a}, ${found.ties} ties, ${found.byOrder} of them decided by the order alone`,
    `sessions: ${found.signTest.wins} for ${b}, ${found.signTest.losses} for ${a}, exact p = ${found.signTest.p.toFixed(4)}`,
    ...(found.withoutVerdict === 0
      ? []
      : [
          `${found.withoutVerdict} of ${found.pairs} pairs without a verdict, which the same command asks about again: ${inert(fault ?? '')}`,
        ]),
    ...(found.earlier === undefined ? [] : [`${found.earlier} of ${found.pairs} pairs were judged earlier, and not asked about again`]),
    ...(found.judges === undefined
      ? []
      : [
          `the judge answered ${found.judges.calls} times, for ${found.judges.costUsd === undefined ? 'a cost that is not known' : dollarsText(found.judges.costUsd)}`,
        ]),
    `each pair, with the judge's reason: ${inert(file)}`,
    '',
  ].join('\n')
}
