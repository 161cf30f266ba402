// One page on which a person scores recordings: each conversation with the criteria's labels as buttons. It keeps what was chosen in the browser and hands out labels.jsonl.
import type { Episode } from '@homeground/sdk/trace'
import type { Task } from '../../environment/types.ts'
import { labelsOf } from '../judge/scale.ts'
import { html, type Markup } from '../markup.ts'
import { renderPage } from '../page.ts'
import { type Turn, transcript } from '../transcript.ts'
import type { Criterion, Rubric } from '../types.ts'

export interface LabelItem {
  task: Task
  episode: Episode
}

/** The criteria that a person can answer: judges by their scale, all others as pass or fail. Limits and feedback need nobody. */
export function labelledCriteria(rubric: Rubric): { name: string; asks: string; labels: readonly { label: string; value: number }[] }[] {
  return rubric.criteria
    .filter((criterion) => !['cost', 'latency', 'steps', 'feedback'].includes(criterion.type))
    .map((criterion) => ({
      name: criterion.name,
      asks: asks(criterion),
      labels: labelsOf(criterion.type === 'judge' ? criterion.scale : 'binary'),
    }))
}

/** The page as text. What judges and graders said is not shown: a person should not be led. */
export function renderLabelPage(name: string, rubric: Rubric, items: readonly LabelItem[]): string {
  const criteria = labelledCriteria(rubric)
  return renderPage(new URL('page.html', import.meta.url), {
    title: html`Label ${name}`,
    body: html`<header><h1>Label ${name}</h1><p>${items.length === 1 ? '1 recording' : `${items.length} recordings`}. Judge each by what stands here alone${
      items.some(({ task }) => task.source.step !== undefined) ? ': what the assistant says or calls last, not what was said before' : ''
    }. Keys: <kbd>j</kbd> <kbd>k</kbd> next and previous, <kbd>1</kbd> to <kbd>9</kbd> the labels of the first open criterion.</p>
      <p class="bar"><label>Your name <input id="by" autocomplete="name"></label> <button id="save" type="button">Save labels.jsonl</button> <span id="count" role="status"></span></p></header>
      <main data-name="${name}">${items.map((item, at) => itemView(item, at, criteria))}</main>`,
  })
}

function itemView({ task, episode }: LabelItem, at: number, criteria: ReturnType<typeof labelledCriteria>): Markup {
  return html`<article id="task-${at + 1}" data-task="${task.id}" tabindex="-1"><h2>${at + 1}. <small>${task.id}</small></h2>
    <div class="turns">${transcript(episode).map(turnView)}</div>
    ${criteria.map(
      ({ name, asks: question, labels }) =>
        html`<fieldset data-criterion="${name}"><legend>${name}</legend><p>${question}</p>${labels.map(
          ({ label, value }, number) =>
            html`<label><input type="radio" name="${at}-${name}" value="${value}"> <kbd>${number + 1}</kbd> ${label}</label>`,
        )}</fieldset>`,
    )}
  </article>`
}

function turnView(turn: Turn): Markup {
  if (turn.kind === 'system') return html`<details class="turn"><summary>system</summary><p>${turn.text}</p></details>`
  return html`<div class="turn ${turn.kind}"><small>${turn.head}</small><p>${turn.text}</p></div>`
}

function asks(criterion: Criterion): string {
  switch (criterion.type) {
    case 'judge':
      return criterion.instructions
    case 'actions':
      return 'Did the agent do exactly what had to be done, and say what the user had to know?'
    case 'equals':
    case 'contains':
    case 'matches':
    case 'json':
      return 'Is the final answer right?'
    default:
      return `Is "${criterion.name}" fulfilled?`
  }
}
