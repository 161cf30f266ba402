// tune/gate: may a candidate go live? Rules, a held-out comparison, a promotion record, and a ledger of every look.
export { checkGate, type GateOptions, type GateResult, type GateSide, gate, splitHash } from './gate.ts'
export { levelOf, wornOutAfter } from './ledger.ts'
export { type GateRules, gateRulesSchema, type Promotion } from './types.ts'
