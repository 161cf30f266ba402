// replay/audit: looks for ways to cheat an environment.
export { auditEnvironment } from './audit-environment.ts'
export { type Policy, policies } from './policies.ts'
export type * from './types.ts'
