// Where the embedded store is, for commands that are about its folder and not about a server.
import { HomegroundError } from '@homeground/sdk/trace'
import { type BackupOptions, readSettings, storeSettings } from '../store/index.ts'
import { environmentWith } from './store-options.ts'

/** @throws HomegroundError invalid-settings: a server is set, and no folder is given */
export function embeddedPlace(options: { folder?: string }): BackupOptions {
  const settings = readSettings(storeSettings, environmentWith({ HOMEGROUND_FOLDER: options.folder }))
  if (options.folder === undefined && settings.HOMEGROUND_CLICKHOUSE_URL !== undefined) {
    throw new HomegroundError('invalid-settings', 'HOMEGROUND_CLICKHOUSE_URL names a server, and this is for the embedded store', {
      hint: "back a server up by ClickHouse's own BACKUP statement; or give --folder",
    })
  }
  return { folder: settings.HOMEGROUND_FOLDER, database: settings.HOMEGROUND_CLICKHOUSE_DATABASE }
}
