// `homeground up`: collector and embedded ClickHouse in one go.
import type { Command } from 'commander'
import { type Collector, isLoopback } from '../collector/index.ts'
import { portOf } from './option-values.ts'
import { serve } from './serve.ts'
import { environmentWith, folderOption, wantsJson } from './store-options.ts'

export function register(program: Command): void {
  program
    .command('up')
    .description('collector + embedded ClickHouse in one go; prints the two lines of code a product needs')
    .addOption(folderOption())
    .option('--port <PORT>', 'port of the collector, 0 for a free one (default: HOMEGROUND_PORT, else 4318)', portOf)
    .action(async (options: { folder?: string; port?: number }, command: Command) => {
      const environment = environmentWith({
        HOMEGROUND_FOLDER: options.folder,
        HOMEGROUND_PORT: options.port === undefined ? undefined : String(options.port),
        HOMEGROUND_LOG_LEVEL: process.env['HOMEGROUND_LOG_LEVEL'] ?? 'warn',
      })
      const { collector, ended } = await serve(environment)
      process.stdout.write(
        wantsJson(command) ? `${JSON.stringify({ url: collector.url, pid: process.pid })}\n` : welcome(collector, environment),
      )
      // What was cut off may still wait for a store that does not answer.
      if (!(await ended)) process.exit(3)
    })
}

function welcome({ url, host }: Collector, environment: Readonly<Record<string, string | undefined>>): string {
  const endpoint = url === 'http://127.0.0.1:4318' ? '' : `, endpoint: '${url}'`
  return `Homeground is up.
  collector  ${url}${isLoopback(host) ? ' (this machine only)' : ' (with a key: homeground keys create)'}
  store      ${storeOf(environment)}

What a product needs:
  const hg = homeground({ project: 'my-product'${endpoint} })   // import { homeground } from '@homeground/sdk'
  const openai = hg.wrap(new OpenAI())

Then: homeground traces list my-product
Ctrl-C ends it.
`
}

/** The server without the password that its address may hold. */
function storeOf(environment: Readonly<Record<string, string | undefined>>): string {
  const server = environment['HOMEGROUND_CLICKHOUSE_URL']
  return server ? `ClickHouse at ${new URL(server).host}` : `embedded ClickHouse in ${environment['HOMEGROUND_FOLDER'] || '.homeground'}`
}
