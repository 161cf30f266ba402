// store/embedded: ClickHouse without an installation.

export { type EngineAddress, readAddress as readEngineAddress } from './address.ts'
export { backupsFolder } from './engine-settings.ts'
export { engineMissing, installCommand, locateEngine } from './locate.ts'
export { processStart } from './process-identity.ts'
export { type Engine, type EngineOptions, startEngine } from './start-engine.ts'
