// `homeground env audit ENV`: degenerate policies against the rubric, and what is wrong with the data. Exit 1 where a hole is found.
import fs from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import { type AuditReport, auditEnvironment, type Finding } from '../replay/audit/index.ts'
import { openEnvironment } from '../replay/environment/open.ts'
import { openRun } from '../replay/run/open-run.ts'
import { runFolder } from './run-folder-option.ts'
import { folderOption, wantsJson } from './store-options.ts'
import { inert, table } from './terminal.ts'

export function registerAudit(env: Command): void {
  env
    .command('audit')
    .description('look for ways to cheat an environment; exit 1 where one is found')
    .argument('<environment>', 'the environment folder')
    .addOption(folderOption())
    .option('--run <RUN...>', 'runs of it (folders or ids): which tasks nobody solves, and which everybody', [])
    .action(async (folder: string, options: { run: string[]; folder?: string }, command: Command) => {
      const environment = await openEnvironment(folder)
      try {
        const runs = await Promise.all(options.run.map((run) => openRun(runFolder(run, options.folder))))
        const report = await auditEnvironment(environment, { runs })
        noteAudit(folder, report)
        process.stdout.write(wantsJson(command) ? `${JSON.stringify(report)}\n` : auditText(report))
        if (holesOf(report) > 0) process.exitCode = 1
      } finally {
        await environment.close()
      }
    })
}

/** audit.json in the environment's folder: a gate whose rules ask for an audit reads it, and sees by the hash whether it is of this build. */
function noteAudit(folder: string, report: AuditReport): void {
  const holes = holesOf(report)
  const file = path.join(folder, 'audit.json')
  fs.writeFileSync(`${file}.next`, `${JSON.stringify({ format: 1, hash: report.environment.hash, clean: holes === 0, holes }, null, 2)}\n`)
  fs.renameSync(`${file}.next`, file)
}

function holesOf(report: AuditReport): number {
  return report.findings.filter((finding) => finding.severity === 'hole').length
}

function auditText(report: AuditReport): string {
  const rows = [report.recorded, ...report.policies].map(({ policy, description, score }) => [
    policy,
    score === null ? '–' : score.toFixed(3),
    description,
  ])
  const holes = holesOf(report)
  // What several in a row have in common is said once, under the last.
  const findings = report.findings.map((finding, at) => {
    const next = report.findings[at + 1]
    const rest = next !== undefined && restOf(next) === restOf(finding) ? '' : restOf(finding)
    return `${finding.severity} (${finding.kind}, ${inert(finding.where)}): ${inert(finding.sentence)}\n${rest}`
  })
  return [
    table(['policy', 'score', 'it'], rows),
    findings.join(''),
    `${holes === 0 ? 'no holes' : holes === 1 ? '1 hole' : `${holes} holes`} in ${report.tasks} tasks\n`,
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function restOf({ hint, tasks }: Finding): string {
  const examples = tasks.slice(0, 3).map((id) => inert(id))
  return `  hint: ${hint}\n${examples.length > 0 ? `  for example: ${examples.join(', ')}\n` : ''}`
}
