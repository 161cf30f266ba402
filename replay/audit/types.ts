// What an audit finds: ways to a score that no good answer needs, and data that makes a score mean less than it says.

export type FindingKind =
  | 'never-scored'
  | 'policy-scores'
  | 'criterion-fooled'
  | 'criterion-constant'
  | 'reference-leak'
  | 'near-duplicates'
  | 'judge-decides'
  | 'judge-unstable'
  | 'judge-order'
  | 'nobody-solves'
  | 'everybody-solves'
  | 'product-stopped'

export interface Finding {
  kind: FindingKind
  /** The criterion, policy or split that it is about. */
  where: string
  /** In one sentence, with the numbers. */
  sentence: string
  /** What would close it. */
  hint: string
  /** Tasks that show it, at most ten. */
  tasks: string[]
  /** A hole lets a policy score for nothing; a note makes scores mean less. */
  severity: 'hole' | 'note'
}

export interface PolicyScore {
  policy: string
  description: string
  /** Mean over tasks that could be scored; null where none could. */
  score: number | null
  criteria: Record<string, number | null>
}

export interface AuditReport {
  environment: { name: string; hash: string }
  tasks: number
  /** The recordings by the same rubric: what the policies are measured against. */
  recorded: PolicyScore
  policies: PolicyScore[]
  findings: Finding[]
}
