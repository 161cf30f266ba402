// @homeground/sdk/testing: a model server and a memory exporter, for our tests and for users' own.
export { MemoryExporter } from './memory-exporter.ts'
export { startModelServer } from './model-server.ts'
export type * from './types.ts'
