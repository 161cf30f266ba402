// tune/dataset: scored episodes become training rows.
export { environmentSource } from './environment-source.ts'
export { joinSources } from './join-sources.ts'
export { makeDataset } from './make-dataset.ts'
export { type RunSourceOptions, runSource } from './run-source.ts'
export { traceSource } from './trace-source.ts'
export type * from './types.ts'
export { type WrittenDataset, writeDataset } from './write-dataset.ts'
