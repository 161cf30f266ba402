// `homeground grade ENV`: scores an environment's recordings by its rubric; with --against, how far that agrees with a score that was given, and where not.
import { HomegroundError } from '@homeground/sdk/trace'
import { type Command, Option } from 'commander'
import { openEnvironment } from '../replay/environment/open.ts'
import type { Split } from '../replay/environment/types.ts'
import { type Calibration, calibrate, type GradedRecording, gradeRecordings, readLabels, readPrices } from '../replay/rubric/index.ts'
import { shareOf } from './option-values.ts'
import { wantsJson } from './store-options.ts'
import { inert, table } from './terminal.ts'

interface GradeCommandOptions {
  split?: Split
  against?: string
  atLeast?: number
  labels?: string
}

const longestReason = 600

export function register(program: Command): void {
  program
    .command('grade')
    .description("score an environment's recordings by its rubric, and compare with a score that was given")
    .argument('<environment>', 'the environment folder')
    .addOption(new Option('--split <NAME>', 'tasks of this split only').choices(['train', 'validation', 'test']))
    .option('--against <FEEDBACK>', 'compare with feedback of this name; lists the recordings where the two disagree')
    .option('--at-least <SHARE>', 'with --against: exit 1 where they agree on fewer', shareOf)
    .option('--labels <FILE>', 'compare each criterion with what people said (labels.jsonl of `homeground label`)')
    .action(async (folder: string, options: GradeCommandOptions, command: Command) => {
      const graded = await grade(folder, options)
      const calibration = options.labels === undefined ? [] : calibrate(graded, await readLabels(options.labels))
      const compared = graded.filter((item) => item.agrees !== undefined)
      const agree = compared.filter((item) => item.agrees).length
      if (options.against !== undefined && compared.length === 0)
        throw new HomegroundError('not-found', `no recording has feedback named ${inert(options.against)}`, {
          hint: 'homeground traces show ID prints the feedback that an episode has',
        })
      const share = compared.length === 0 ? undefined : agree / compared.length
      process.stdout.write(
        wantsJson(command)
          ? `${JSON.stringify({ recordings: graded.length, compared: compared.length, agree, disagreements: compared.filter((item) => !item.agrees), criteria: criteriaOf(graded), calibration })}\n`
          : gradeText(graded, compared, agree, options.against) + calibrationText(calibration),
      )
      if (options.atLeast !== undefined && share !== undefined && share < options.atLeast) process.exitCode = 1
    })
}

async function grade(folder: string, { split, against }: GradeCommandOptions): Promise<GradedRecording[]> {
  const environment = await openEnvironment(folder)
  try {
    const graded: GradedRecording[] = []
    for await (const item of gradeRecordings(environment, { split, against, prices: readPrices() })) graded.push(item)
    return graded
  } finally {
    await environment.close()
  }
}

interface CriterionLine {
  name: string
  weight: number
  /** Null where no recording has a value. */
  mean: number | null
  withoutScore: number
  /** The most frequent reason for having none. */
  why?: string
}

function criteriaOf(graded: readonly GradedRecording[]): CriterionLine[] {
  const names = Object.keys(graded[0]?.scores ?? {})
  return names.map((name) => {
    const scores = graded.flatMap((item) => item.scores[name] ?? [])
    const values = scores.flatMap(({ value }) => (value === null ? [] : [value]))
    const why = scores.find(({ value }) => value === null)?.reason
    return {
      name,
      weight: scores[0]?.weight ?? 0,
      mean: values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length,
      withoutScore: scores.length - values.length,
      ...(why !== undefined && { why }),
    }
  })
}

function gradeText(
  graded: readonly GradedRecording[],
  compared: readonly GradedRecording[],
  agree: number,
  against: string | undefined,
): string {
  const rows = criteriaOf(graded).map(({ name, weight, mean, withoutScore, why }) => [
    name,
    String(weight),
    mean === null ? '–' : mean.toFixed(3),
    String(withoutScore),
    why ?? '',
  ])
  const lines = [`${graded.length} recordings\n`, table(['criterion', 'weight', 'mean', 'without a score', 'why'], rows)]
  if (against !== undefined) {
    lines.push(`\nagrees with ${inert(against)} on ${agree} of ${compared.length}\n`)
    const others = compared.filter((item) => !item.agrees)
    if (others.length > 0) lines.push(`\n${table(['task', 'session', 'score', inert(against), 'why'], others.map(disagreement))}`)
  }
  return lines.join('')
}

function calibrationText(calibration: readonly Calibration[]): string {
  if (calibration.length === 0) return ''
  const rows = calibration.map(({ criterion, pairs, agreement, kappa, weightedKappa, unscored }) => [
    criterion,
    String(pairs),
    `${(agreement * 100).toFixed(0)} %`,
    kappa === undefined ? '–' : kappa.toFixed(2),
    weightedKappa === undefined ? '–' : weightedKappa.toFixed(2),
    String(unscored),
  ])
  return `\nagainst what people said\n${table(['criterion', 'labels', 'agree', 'kappa', 'weighted', 'without a score'], rows)}`
}

function disagreement(item: GradedRecording): string[] {
  const why = Object.values(item.scores)
    .filter(({ weight }) => weight > 0)
    .map(({ reason }) => reason)
    .join('; ')
  const shown = why.length > longestReason ? `${why.slice(0, longestReason)}…` : why
  return [item.task, item.session, item.score === null ? '–' : String(item.score), String(item.against), shown]
}
