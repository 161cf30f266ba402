// report.html of a training run: what metrics.jsonl says, as curves. One file, no script, nothing fetched.
import fs from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { html, type Markup } from '../../replay/rubric/markup.ts'
import { renderPage } from '../../replay/rubric/page.ts'
import type { ModelFile } from './lineage.ts'

/** Step figures that are drawn where a run has them, in this order; each with its title. */
const curves: readonly [name: string, title: string][] = [
  ['reward', 'reward, mean of the step'],
  ['loss', 'loss'],
  ['preferenceAccuracy', 'preference accuracy'],
  ['tokenAccuracy', 'token accuracy'],
  ['gradientNorm', 'gradient norm'],
  ['learningRate', 'learning rate'],
  ['entropy', 'entropy'],
  ['zeroVarianceShare', 'groups scored all alike'],
  ['offTapeShare', 'rollouts off the tape'],
  ['unscored', 'rollouts without a score'],
  ['turns', 'model turns a rollout'],
  ['rolloutTokens', 'tokens a rollout'],
]

interface Point {
  step: number
  value: number
}

/** Writes OUTPUT/report.html beside model.json. @returns its path */
export function writeTrainingReport(output: string, model: ModelFile): string {
  const { steps, evaluations, warnings } = readMetrics(path.join(output, 'metrics.jsonl'))
  const criteria = [...new Set(steps.flatMap((step) => Object.keys(step.criteria ?? {})))]
  const figures = [
    chart('loss on held-out rows', evaluations),
    ...curves.map(([name, title]) =>
      chart(
        title,
        pointsOf(steps, (step) => step[name]),
      ),
    ),
    ...criteria.map((name) =>
      chart(
        `criterion ${name}`,
        pointsOf(steps, (step) => step.criteria?.[name]),
      ),
    ),
  ]
  const file = path.join(output, 'report.html')
  const body = html`<h1>${model.name}</h1>
<p>${model.recipe} of <code>${model.base.path}</code>, ${model.metrics.steps} steps in ${model.metrics.seconds} s. Lineage: model.json.</p>
${warnings.length > 0 && html`<ul class="warnings">${warnings.map((warning) => html`<li><b>${warning.code}</b> ${warning.message}</li>`)}</ul>`}
<main>${figures}</main>`
  fs.writeFileSync(file, renderPage(new URL('training-page.html', import.meta.url), { title: html`${model.name}`, body }))
  return file
}

const stepSchema = z.looseObject({
  event: z.literal('step'),
  step: z.number(),
  criteria: z.record(z.string(), z.number().nullable()).optional(),
})
const evaluationSchema = z.looseObject({ event: z.literal('evaluation'), step: z.number(), loss: z.number().nullable() })
const warningSchema = z.looseObject({ event: z.literal('warning'), code: z.string(), message: z.string() })

function readMetrics(file: string) {
  // A run that was cut off and gone on with tells some steps twice: the later one is the one that counts.
  const steps = new Map<number, z.infer<typeof stepSchema>>()
  const evaluations: Point[] = []
  const warnings: z.infer<typeof warningSchema>[] = []
  const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n') : []
  for (const line of lines) {
    const value = parsed(line)
    const step = stepSchema.safeParse(value).data
    if (step !== undefined) steps.set(step.step, step)
    const evaluation = evaluationSchema.safeParse(value).data
    if (evaluation?.loss != null) evaluations.push({ step: evaluation.step, value: evaluation.loss })
    const warning = warningSchema.safeParse(value).data
    if (warning !== undefined && !warnings.some(({ code }) => code === warning.code)) warnings.push(warning)
  }
  return { steps: [...steps.values()].sort((a, b) => a.step - b.step), evaluations, warnings }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function pointsOf<Step extends { step: number }>(steps: readonly Step[], read: (step: Step) => unknown): Point[] {
  return steps.flatMap((each) => {
    const value = read(each)
    return typeof value === 'number' ? [{ step: each.step, value }] : []
  })
}

/** Empty where there is nothing to draw a line through. */
function chart(title: string, points: readonly Point[]): Markup | false {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined || points.length < 2) return false
  const values = points.map(({ value }) => value)
  const low = values.reduce((least, value) => Math.min(least, value))
  const high = values.reduce((most, value) => Math.max(most, value))
  const x = (step: number) => (((step - first.step) / (last.step - first.step || 1)) * 300).toFixed(1)
  const y = (value: number) => (100 - ((value - low) / (high - low || 1)) * 100).toFixed(1)
  const line = points.map(({ step, value }) => `${x(step)},${y(value)}`).join(' ')
  const label = `${title}: ${figure(first.value)} at step ${first.step}, ${figure(last.value)} at step ${last.step}`
  return html`<figure><figcaption>${title}<b>${figure(first.value)} → ${figure(last.value)}</b></figcaption>
<svg viewBox="-2 -4 304 108" role="img" aria-label="${label}"><polyline points="${line}"/></svg>
<p>${figure(low)} to ${figure(high)} over steps ${first.step} to ${last.step}</p></figure>`
}

function figure(value: number): string {
  return Number(value.toPrecision(3)).toString()
}
