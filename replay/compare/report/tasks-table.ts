// Every task in one table with a filter. Above the bound the middle of the order is left to report.json.

import { html, type Markup } from '../../rubric/markup.ts'
import type { PairComparison, TaskDelta } from '../types.ts'
import { counted, signed } from '../verdict-sentence.ts'
import { score } from './figures.ts'

const mostRows = 2_000

/** Regressions first. @param anchors where a task's episodes stand */
export function tasksTable(pair: PairComparison, anchors: ReadonlyMap<string, string>): Markup {
  const sorted = pair.tasks.toSorted((a, b) => (a.delta ?? 2) - (b.delta ?? 2))
  const half = mostRows / 2
  const rows = sorted.length > mostRows ? [...sorted.slice(0, half), ...sorted.slice(-half)] : sorted
  return html`<details class="all-tasks"><summary>${counted(pair.tasks.length, 'task')}</summary>
    <div class="filter"><label>Filter <input type="search" placeholder="task, session or tag" aria-label="Filter tasks"></label>
      <span role="group" aria-label="Show">${['all', 'worse', 'better', 'same', 'unscored'].map(
        (kind) => html`<button type="button" data-show="${kind}" aria-pressed="${kind === 'all' ? 'true' : 'false'}">${kind}</button>`,
      )}</span></div>
    ${sorted.length > mostRows && html`<p class="note">The ${half} worst and the ${half} best are shown; report.json has all.</p>`}
    <div class="scroll tall" tabindex="0" role="region" aria-label="Every task"><table class="tasks">
      <thead><tr><th scope="col">task</th><th scope="col">session</th><th scope="col" class="number">${pair.baseline}</th><th scope="col" class="number">${pair.candidate}</th><th scope="col" class="number">difference</th><th scope="col" class="number">off tape</th></tr></thead>
      <tbody>${rows.map((task) => taskRow(task, anchors.get(task.task)))}</tbody>
    </table></div>
  </details>`
}

function taskRow(task: TaskDelta, anchor: string | undefined): Markup {
  const kind = task.delta === null ? 'unscored' : task.delta < -1e-12 ? 'worse' : task.delta > 1e-12 ? 'better' : 'same'
  const tags = Object.entries(task.tags ?? {}).map(([name, value]) => `${name}=${value}`)
  const off = task.offTape.baseline + task.offTape.candidate === 0 ? '' : `${task.offTape.baseline} / ${task.offTape.candidate}`
  return html`<tr data-kind="${kind}"><th scope="row">${anchor === undefined ? task.task : html`<a href="#${anchor}">${task.task}</a>`}${
    tags.length > 0 && html`<small>${tags.join(' ')}</small>`
  }</th><td>${task.session}</td><td class="number">${score(task.baseline)}</td><td class="number">${score(task.candidate)}</td><td class="number tone-${kind}">${
    task.delta === null ? '–' : signed(task.delta)
  }</td><td class="number">${off}</td></tr>`
}
