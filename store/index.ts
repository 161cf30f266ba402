// The store: ClickHouse behind `openStore`, and ClickHouse itself out of npm behind `startEngine`.
export { type BackupOptions, backupStore, restoreStore } from './backup.ts'
export * from './embedded/index.ts'
export { feedbackValue } from './feedback-value.ts'
export { openStore, type StoreOptions } from './open-store.ts'
export { risingClock } from './rising-clock.ts'
export { describeSettings, engineFolder, readSettings, type StoreSettings, storeSettings } from './settings.ts'
export { textMap } from './text-map.ts'
export type * from './types.ts'
