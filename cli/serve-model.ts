// `homeground serve`: a model or an adapter of ours behind an OpenAI-compatible URL on this machine, for the gate and for a trial.
import { type Command, Option } from 'commander'
import { requirePython, type ServeOptions, serveModel } from '../tune/train/index.ts'
import { portOf } from './option-values.ts'
import { interruptSignal } from './progress.ts'
import { folderOption, wantsJson } from './store-options.ts'

interface ServeCommandOptions {
  folder?: string
  name?: string
  host?: string
  port?: number
  chatTemplate?: string
  device?: NonNullable<ServeOptions['device']>
}

export function register(program: Command): void {
  program
    .command('serve')
    .description('serve a model folder, an adapter or what `tune` made, OpenAI-compatible, on this machine (production: vLLM)')
    .argument('<model>', 'the folder')
    .addOption(folderOption())
    .option('--name <NAME>', 'what clients ask for (default: the name of the folder)')
    .option('--host <HOST>', 'where to listen; other than loopback needs HOMEGROUND_SERVE_KEY (default: 127.0.0.1)')
    .option('--port <PORT>', 'port to listen on (default: a free one)', portOf)
    .option('--chat-template <NAME>', "a .jinja file, or a name of TRL's, over the model's own")
    .addOption(new Option('--device <DEVICE>', 'where it runs').choices(['auto', 'cpu', 'cuda']))
    .action(async (model: string, { folder, ...options }: ServeCommandOptions, command: Command) => {
      const served = await serveModel({ python: requirePython(folder === undefined ? {} : { folder }), model, ...options })
      const stop = interruptSignal()
      process.stdout.write(
        wantsJson(command)
          ? `${JSON.stringify({ url: served.url, name: served.name, models: served.models })}\n`
          : `${served.models.join(' and ')} at ${served.url}\n  OPENAI_BASE_URL=${served.url} OPENAI_MODEL=${served.name}\n`,
      )
      await Promise.race([served.ended, new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }))])
      await served.stop()
    })
}
