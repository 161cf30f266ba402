// The card of an environment: what it is, where the data came from, how it is checked, what it is not for. Nothing in it depends on when it was built.

import type { Rubric } from '../rubric/types.ts'
import { type Selection, selectionLines } from './select.ts'
import { fewTestSessions } from './splits.ts'
import type { Survey } from './survey.ts'
import type { EnvironmentFile } from './types.ts'

export function environmentCard(
  file: EnvironmentFile,
  rubric: Rubric,
  survey: Survey,
  { folder, selection }: { folder: string; selection: Selection | undefined },
): string {
  const { provenance, counts } = file
  return `# ${plain(file.name)}

An environment made of recorded traffic: ${counts['tasks']} tasks of unit \`${file.unit}\`, played by the harness \`${file.harness.kind}\`.
${harnessText[file.harness.kind]}

## Where the data came from

- Projects: ${list(provenance.projects)}; agents: ${list([...survey.agents])}; models: ${list([...survey.models.keys()])}
- ${survey.episodes} episodes between ${provenance.from} and ${provenance.to}
- Redacted: ${provenance.redacted ? 'yes' : 'no'}; licence: ${plain(provenance.licence ?? 'not stated')}
- Query: ${plain(JSON.stringify(file.built.query))}
${(selection === undefined ? [] : selectionLines(selection)).map((line) => `- ${plain(line)}\n`).join('')}${[...survey.skipped].map(([reason, count]) => `- Left out: ${count} (${plain(reason)})\n`).join('')}
## What is in it

| split | tasks | sessions |
|---|---|---|
${(['train', 'validation', 'test'] as const).map((split) => `| ${split} | ${survey.tasksOf[split]} | ${survey.sessions[split].size} |`).join('\n')}

Splits are by ${file.splitBy}, from a hash: a rebuild with more data moves no task.${
    survey.sessions.test.size < fewTestSessions
      ? `\n**The test split has ${survey.sessions.test.size} sessions; under ${fewTestSessions} a comparison on it can say little.**`
      : ''
  }

| tool | effect | recorded calls | mode | on a miss |
|---|---|---|---|---|
${Object.entries(file.tools)
  .map(
    ([name, tool]) =>
      `| ${plain(name)} | ${tool.effect ?? 'unknown'} | ${survey.tools.get(name)?.calls ?? 0} | ${tool.mode} | ${tool.onMiss} |`,
  )
  .join('\n')}

Rubric: ${rubric.criteria.map((criterion) => `${plain(criterion.name)} (${criterion.type}, weight ${criterion.weight})`).join(', ')}.

## How it is checked

\`homeground env verify ${plain(folder)}\` plays each task against its own recording and says what is not reproduced, and why. \`homeground env audit ${plain(folder)}\` looks for ways to get a score that is not earned.

## What it is not for

Tools answer from the recording: a candidate that asks for what was never asked gets a tool error (\`${[...new Set(Object.values(file.tools).map((tool) => tool.onMiss))].join('`, `') || 'error'}\`), so scores of candidates far from the recorded ones understate them; runs report that share. It holds what users wrote: share it as you would share the traffic itself.
`
}

const harnessText: Record<EnvironmentFile['harness']['kind'], string> = {
  module: "The product's own agent function runs; its model calls go to the arm under test, its tools answer from the tape.",
  command: "The product's own program runs; its model calls go to the arm under test, its tools answer from the tape.",
  loop: 'A plain agent loop: the recorded system prompt, tools and user turns; tools answer from the tape. User turns are served as recorded, also to a candidate that went another way: runs report that share.',
  turn: "Each of the user's turns by itself: the history is as recorded, the candidate acts until its next message to the user.",
}

function list(values: readonly string[]): string {
  return values.length === 0 ? 'none named' : [...values].sort().map(plain).join(', ')
}

/** Recorded text in Markdown: on one line, with nothing in it that a page or a terminal would obey. */
function plain(text: string): string {
  const shown = text.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd').replace(/[<|`[\\]/g, '\\$&')
  return shown.length > longest ? `${shown.slice(0, longest)}…` : shown
}

const longest = 1_000
