// @homeground/sdk/seam: what a replay needs of the SDK. Products do not import it.
export type * from './seam.ts'
