// `homeground restore`: what `homeground backup` wrote, back in a folder.
import type { Command } from 'commander'
import { restoreStore } from '../store/index.ts'
import { embeddedPlace } from './embedded-place.ts'
import { folderOption, wantsJson } from './store-options.ts'
import { inert } from './terminal.ts'

export function register(program: Command): void {
  program
    .command('restore')
    .description('puts a backup into a folder that holds no store')
    .argument('<file>', 'what homeground backup wrote')
    .addOption(folderOption())
    .action(async (file: string, options: { folder?: string }, command: Command) => {
      const restored = await restoreStore(file, embeddedPlace(options))
      process.stdout.write(wantsJson(command) ? `${JSON.stringify(restored)}\n` : `restored into ${inert(restored.folder)}\n`)
    })
}
