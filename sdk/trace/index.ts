// @homeground/sdk/trace: what an episode is. Schemas, wire dialects, canonical JSON, attribute names. Imports zod only.
export * from './attributes.ts'
export { canonicalHash, canonicalJson, sha256Hex } from './canonical-json.ts'
export type * from './dialects/dialect.ts'
export type * from './episode.ts'
export { type ErrorCode, errorCodes, HomegroundError } from './error.ts'
export type * from './row.ts'
export type * from './span.ts'
