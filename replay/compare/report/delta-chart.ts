// Delta per task: one bar a task, sorted, so that wins, ties and regressions are areas. From one task to thousands.

import { html, Markup } from '../../rubric/markup.ts'
import type { TaskDelta } from '../types.ts'
import { signed } from '../verdict-sentence.ts'

/** Above this many tasks bars become one shape a side. */
const mostBars = 400

/** Fewer bars than this are as wide as so many would be. */
const fewestBars = 12

/** @param anchorOf where a task's episodes stand on the page, if they do */
export function deltaChart(tasks: readonly TaskDelta[], anchorOf: (task: string) => string | undefined): Markup {
  const scored = tasks.filter((task) => task.delta !== null).toSorted((a, b) => (b.delta ?? 0) - (a.delta ?? 0))
  if (scored.length === 0) return html`<p class="empty">No task has a score in both arms.</p>`
  const reach = scored.reduce((widest, task) => Math.max(widest, Math.abs(task.delta ?? 0)), 0.001)
  const wins = scored.filter((task) => (task.delta ?? 0) > 1e-12).length
  const losses = scored.filter((task) => (task.delta ?? 0) < -1e-12).length
  const ties = scored.length - wins - losses
  const width = Math.max(scored.length, fewestBars)
  const first = (width - scored.length) / 2
  const words = `${wins} better, ${ties} the same, ${losses} worse`
  return html`<figure class="deltas">
    <div class="deltas-plot">
      <span class="y top">${signed(reach)}</span><span class="y middle">0</span><span class="y bottom">${signed(-reach)}</span>
      <svg viewBox="0 0 ${width} 200" preserveAspectRatio="none" role="img" aria-label="${words}">
        ${scored.length <= mostBars ? scored.map((task, at) => bar(task, first + at, scored.length, reach, anchorOf(task.task))) : [area(scored, reach, 1), area(scored, reach, -1)]}
        <line x1="0" x2="${width}" y1="100" y2="100" class="zero" vector-effect="non-scaling-stroke" />
      </svg>
    </div>
    <figcaption><span class="tone-better">${wins} better</span> · ${ties} the same · <span class="tone-worse">${losses} worse</span>${
      tasks.length > scored.length && html` · ${tasks.length - scored.length} without a score on one side`
    }</figcaption>
  </figure>`
}

function bar(task: TaskDelta, at: number, tasks: number, reach: number, anchor: string | undefined): Markup {
  const delta = task.delta ?? 0
  const height = Math.max(1.5, (Math.abs(delta) / reach) * 96)
  const gap = tasks > 120 ? 0 : 0.08
  const tone = Math.abs(delta) < 1e-12 ? 'same' : delta > 0 ? 'better' : 'worse'
  const shape = html`<rect x="${at + gap}" width="${1 - 2 * gap}" y="${delta > 0 ? 100 - height : tone === 'same' ? 99 : 100}" height="${
    tone === 'same' ? 2 : height
  }" class="${tone}"><title>${task.task}: ${signed(delta)}</title></rect>`
  return anchor === undefined ? shape : html`<a href="#${anchor}" tabindex="-1">${shape}</a>`
}

function area(scored: readonly TaskDelta[], reach: number, sign: 1 | -1): Markup {
  const points: string[] = []
  for (const [at, task] of scored.entries()) {
    const delta = task.delta ?? 0
    if (Math.sign(delta) !== sign) continue
    const y = (100 - (delta / reach) * 96).toFixed(2)
    points.push(points.length === 0 ? `M${at} 100V${y}H${at + 1}` : `V${y}H${at + 1}`)
  }
  if (points.length === 0) return html``
  return new Markup(`<path d="${points.join('')}V100Z" class="${sign > 0 ? 'better' : 'worse'}" />`)
}
