// `homeground collector`: the collector by itself, set up by environment variables, for a server of your own.
import type { Command } from 'commander'
import { collectorSettings } from '../collector/index.ts'
import { describeSettings } from '../store/index.ts'
import { serve } from './serve.ts'
import { wantsJson } from './store-options.ts'

export function register(program: Command): void {
  program
    .command('collector')
    .description('the collector by itself, set up by environment variables')
    .addHelpText(
      'after',
      `\nEnvironment variables:\n${describeSettings(collectorSettings)
        .map((line) => `  ${line}`)
        .join('\n')}`,
    )
    .action(async (_options: object, command: Command) => {
      const { collector, log, ended } = await serve(process.env)
      log.info({ url: collector.url }, 'listening')
      if (wantsJson(command)) process.stdout.write(`${JSON.stringify({ url: collector.url, pid: process.pid })}\n`)
      else process.stdout.write(`collector: listening on ${collector.url}\n`)
      // What was cut off may still wait for a store that does not answer.
      if (!(await ended)) process.exit(3)
    })
}
