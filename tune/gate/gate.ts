// The gate: both arms play the held-out split through the product's own code, the rules decide, and a promotion record says why. Each look is in the ledger before it is taken.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { canonicalJson, HomegroundError, parseInput, readJsonFile } from '@homeground/sdk/trace'
import { z } from 'zod'
import { compareRun } from '../../replay/compare/index.ts'
import { writeReport } from '../../replay/compare/report/write-report.ts'
import type { Environment, Split } from '../../replay/environment/types.ts'
import { type RunOptions, runRollouts } from '../../replay/run/run-rollouts.ts'
import type { Arm } from '../../replay/run/types.ts'
import { decide } from './decide.ts'
import { closeGate, levelOf, openGate, readLedger, wornOutAfter } from './ledger.ts'
import type { GateRules, Promotion } from './types.ts'

/** A model on one side of the gate. */
export interface GateSide {
  /** As it was given: a folder or a model's name. */
  model: string
  /** Of the folder's files, or of name and URL. */
  sha256: string
  /** Without a name: the gate calls them `baseline` and `candidate`. */
  arm: Omit<Arm, 'name'>
}

export interface GateOptions {
  baseline: GateSide
  candidate: GateSide
  rules: GateRules
  /** Homeground's folder: `gates.jsonl` and `runs/` lie in it. */
  folder: string
  homeground: string
  concurrency?: number
  onProgress?: RunOptions['onProgress']
  signal?: AbortSignal
  now?: () => Date
}

export interface GateResult {
  promotion: Promotion
  /** Of PROMOTION.json. */
  record: string
  /** What a person must know: the split is worn out. */
  warnings: string[]
}

/** The same gate again gives the same answer without another look. @throws HomegroundError what `runRollouts` and `compareRun` throw */
export async function gate(environment: Environment, options: GateOptions): Promise<GateResult> {
  const now = options.now ?? (() => new Date())
  const { rules, baseline, candidate } = options
  const ledger = ledgerOf(options)
  const testHash = await checkGate(environment, options)
  const id = sha256({ testHash, environment: environment.file.hash, baseline: baseline.sha256, candidate: candidate.sha256, rules })
  const folder = path.join(options.folder, 'runs', `gate-${id.slice(0, 12)}`)
  const opened = openGate(ledger, {
    at: now().toISOString(),
    id,
    testHash,
    baseline: baseline.model,
    candidate: candidate.model,
    run: folder,
  })
  const run = await runRollouts(environment, {
    arms: [
      { name: 'baseline', ...baseline.arm },
      { name: 'candidate', ...candidate.arm },
    ],
    folder,
    id: path.basename(folder),
    homeground: options.homeground,
    repeats: rules.repeats,
    tasks: { split: rules.split },
    ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  const comparison = await compareRun(run, { baseline: 'baseline', candidate: 'candidate' })
  await writeReport(run, comparison)
  const pair = comparison.pairs[0]
  if (pair === undefined) throw new Error('a comparison of two arms has a pair')
  const decision = decide({ comparison, pair, rules, level: levelOf(opened.gate), audit: readAudit(environment) })
  const scoreOf = (name: string): number | null => comparison.arms.find((arm) => arm.name === name)?.score.mean ?? null
  const promotion: Promotion = {
    format: 1,
    at: opened.at,
    promoted: decision.promoted,
    verdict: pair.verdict.word,
    sentence: pair.sentence,
    checks: decision.checks,
    interval: decision.interval,
    baseline: { model: baseline.model, sha256: baseline.sha256, score: scoreOf('baseline') },
    candidate: { model: candidate.model, sha256: candidate.sha256, score: scoreOf('candidate') },
    environment: { name: environment.file.name, hash: environment.file.hash },
    split: rules.split,
    testHash,
    gate: opened.gate,
    rules,
    run: run.folder,
    versions: run.file.versions,
  }
  const record = path.join(run.folder, 'PROMOTION.json')
  fs.writeFileSync(`${record}.next`, `${JSON.stringify(promotion, null, 2)}\n`)
  fs.renameSync(`${record}.next`, record)
  if (opened.promoted === undefined) closeGate(ledger, opened, { promoted: promotion.promoted, verdict: promotion.verdict })
  return { promotion, record, warnings: warningsOf(opened.gate, rules.split) }
}

/**
 * What can be said before a model is started: the rules are of this environment, its split has tasks, and the ledger can be read. Resolves with the split's hash.
 * @throws HomegroundError invalid-settings, invalid-argument, invalid-input with `file:line`
 */
export async function checkGate(environment: Environment, options: Pick<GateOptions, 'rules' | 'folder'>): Promise<string> {
  const { rules } = options
  const criteria = environment.rubric.criteria.map(({ name }) => name)
  const unknown = Object.keys(rules.nonInferior).filter((name) => !criteria.includes(name))
  if (unknown.length > 0) {
    throw new HomegroundError('invalid-settings', `nonInferior: the rubric has no criterion ${unknown.join(', ')}`, {
      hint: `it has ${criteria.join(', ')}`,
    })
  }
  const testHash = await splitHash(environment, rules.split)
  readLedger(ledgerOf(options), testHash)
  return testHash
}

function ledgerOf({ folder }: Pick<GateOptions, 'folder'>): string {
  return path.join(folder, 'gates.jsonl')
}

/** Of the tasks of one split: what a gate has seen once it ran. @throws HomegroundError invalid-argument where the split is empty */
export async function splitHash(environment: Environment, split: Split): Promise<string> {
  const hashes: string[] = []
  for await (const task of environment.tasks({ split })) hashes.push(task.hash)
  if (hashes.length > 0) return sha256(hashes.sort())
  throw new HomegroundError('invalid-argument', `${environment.file.name} has no task in the split ${split}`, {
    hint: 'build it from more sessions, or with other --splits',
  })
}

const auditSchema = z.looseObject({ hash: z.string(), clean: z.boolean() })

/** audit.json in the environment's folder, if it is of this build. */
function readAudit(environment: Environment): { clean: boolean; says: string } | undefined {
  const file = path.join(environment.folder, 'audit.json')
  if (!fs.existsSync(file)) return undefined
  const audit = parseInput(auditSchema, readJsonFile(file, { broken: 'homeground env audit writes it anew' }), {
    place: file,
    what: 'an audit',
  })
  if (audit.hash !== environment.file.hash) return { clean: false, says: 'the environment was built again since its audit' }
  return { clean: audit.clean, says: audit.clean ? 'clean' : 'the audit found ways to cheat' }
}

function warningsOf(gate: number, split: string): string[] {
  if (gate < wornOutAfter) return []
  const level = (levelOf(gate) * 100).toPrecision(2)
  return [
    `this was gate ${gate} on the same ${split} tasks, at ${level} %: the split is worn out; collect new sessions and build the environment again`,
  ]
}

function sha256(value: unknown): string {
  return createHash('sha256')
    .update(canonicalJson(JSON.parse(JSON.stringify(value))))
    .digest('hex')
}
