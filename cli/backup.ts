// `homeground backup`: the embedded store as one file.
import type { Command } from 'commander'
import { backupStore } from '../store/index.ts'
import { embeddedPlace } from './embedded-place.ts'
import { folderOption, wantsJson } from './store-options.ts'
import { inert } from './terminal.ts'

export function register(program: Command): void {
  program
    .command('backup')
    .description('writes the embedded store into one file, while it works; overwrites nothing')
    .argument('<file>', 'where to, for example store-2026-12-02.tar')
    .addOption(folderOption())
    .action(async (file: string, options: { folder?: string }, command: Command) => {
      const made = await backupStore(file, embeddedPlace(options))
      process.stdout.write(
        wantsJson(command)
          ? `${JSON.stringify(made)}\n`
          : `${inert(made.file)}: ${(made.bytes / 1e6).toFixed(1)} MB; restore it with homeground restore\n`,
      )
    })
}
