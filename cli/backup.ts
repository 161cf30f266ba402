// `homeground backup` and `homeground restore`: the embedded store as one file.
import { HomegroundError } from '@homeground/sdk/trace'
import type { Command } from 'commander'
import { type BackupOptions, backupStore, readSettings, restoreStore, storeSettings } from '../store/index.ts'
import { environmentWith, folderOption, wantsJson } from './store-options.ts'

export function register(program: Command): void {
  program
    .command('backup')
    .description('writes the embedded store into one file, while it works; overwrites nothing')
    .argument('<file>', 'where to, for example store-2026-12-02.tar')
    .addOption(folderOption())
    .action(async (file: string, options: { folder?: string }, command: Command) => {
      const made = await backupStore(file, placeOf(options))
      process.stdout.write(
        wantsJson(command)
          ? `${JSON.stringify(made)}\n`
          : `${made.file}: ${(made.bytes / 1e6).toFixed(1)} MB; restore it with homeground restore\n`,
      )
    })
  program
    .command('restore')
    .description('puts a backup into a folder that holds no store')
    .argument('<file>', 'what homeground backup wrote')
    .addOption(folderOption())
    .action(async (file: string, options: { folder?: string }, command: Command) => {
      const restored = await restoreStore(file, placeOf(options))
      process.stdout.write(wantsJson(command) ? `${JSON.stringify(restored)}\n` : `restored into ${restored.folder}\n`)
    })
}

function placeOf(options: { folder?: string }): BackupOptions {
  const settings = readSettings(storeSettings, environmentWith({ HOMEGROUND_FOLDER: options.folder }))
  if (options.folder === undefined && settings.HOMEGROUND_CLICKHOUSE_URL !== undefined) {
    throw new HomegroundError('invalid-settings', 'HOMEGROUND_CLICKHOUSE_URL names a server, and this is for the embedded store', {
      hint: "back a server up by ClickHouse's own BACKUP statement; or give --folder",
    })
  }
  return { folder: settings.HOMEGROUND_FOLDER, database: settings.HOMEGROUND_CLICKHOUSE_DATABASE }
}
