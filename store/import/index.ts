// store/import: episodes from elsewhere.
export {
  checkFiles,
  type ImportOptions,
  type ImportSummary,
  type ImportTarget,
  importerOf,
  importFiles,
  storeFiles,
} from './import-files.ts'
export { importers } from './importers.ts'
export { readTools } from './read-tools.ts'
export type * from './types.ts'
