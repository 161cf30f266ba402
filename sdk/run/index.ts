// @homeground/sdk/seam: what a replay needs of the SDK. Products do not import it.
export { Redaction, type RedactionOptions } from '../privacy/redaction.ts'
export type { Replay } from './context.ts'
export { gather } from './gather.ts'
export type * from './seam.ts'
export { type RemoteSeam, serveSeam } from './serve-seam.ts'
export { seamHandshake, withSeam } from './with-seam.ts'
