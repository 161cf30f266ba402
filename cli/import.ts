// `homeground import FILE…`: episodes from elsewhere. All files are checked before the first row is stored.
import { type Command, Option } from 'commander'
import { otlpJson } from '../collector/ingest/otlp-json-file.ts'
import { type PassRates, passRates } from '../replay/compare/pass-rates.ts'
import { checkFiles, type ImportOptions, type ImportSummary, importers, readTools, storeFiles } from '../store/import/index.ts'
import { openStore } from '../store/index.ts'
import { environmentWith, folderOption, wantsJson } from './store-options.ts'
import { inert, shellWord, table } from './terminal.ts'

/** Spans come through the collector's decoder. */
const formats = [...importers, otlpJson]

interface CommandOptions {
  format: string
  project?: string
  tools?: string
  model?: string
  folder?: string
}

export function register(program: Command): void {
  program
    .command('import')
    .description('episodes from elsewhere')
    .argument('<files...>', 'files of one format; .gz is opened')
    .addOption(
      new Option('--format <FORMAT>', formats.map(({ format, summary }) => `${format}: ${summary}`).join('; ')).makeOptionMandatory(),
    )
    .option('--project <NAME>', 'the project to put them in (default: the one that the file names, else "default")')
    .option('--tools <FILE>', 'a JSON array of tool definitions with their effects, where the format has none')
    .option('--model <NAME>', 'the model that answered, where the format does not say')
    .addOption(folderOption())
    .action(async (files: string[], options: CommandOptions, command: Command) => {
      const given: ImportOptions = {
        tools: options.tools === undefined ? [] : await readTools(options.tools),
        importers: [otlpJson],
        onProgress: progressLine(),
        ...(options.project === undefined ? {} : { project: options.project }),
        ...(options.model === undefined ? {} : { model: options.model }),
      }
      // Faults of the files are told before an engine is started.
      const summary = await checkFiles(files, options.format, given)
      const store = await openStore({ environment: environmentWith({ HOMEGROUND_FOLDER: options.folder }) })
      try {
        await storeFiles(store, files, options.format, given)
        print(summary, wantsJson(command))
      } finally {
        await store.close()
      }
    })
}

function print({ rewards, ...summary }: ImportSummary, json: boolean): void {
  const scored = [...rewards.values()]
  const rates = passRates(scored)
  if (json) {
    const passes = rates.map(({ k, passHat, passAt, tasks }) => ({ k, passHat, passAt, tasks }))
    process.stdout.write(`${JSON.stringify({ ...summary, ...(scored.length === 0 ? {} : { rewards: passes }) })}\n`)
    return
  }
  const { episodes, modelCalls, toolCalls, feedback, projects } = summary
  process.stdout.write(
    `stored ${episodes} episodes (${modelCalls} model calls, ${toolCalls} tool calls, ${feedback} feedback) in project ${projects.map((name) => inert(name)).join(', ')}\n`,
  )
  if (scored.length > 0)
    process.stdout.write(
      `\nrewards as published, ${scored.length} tasks:\n${table(['k', 'pass^k', 'pass@k', 'tasks'], rates.map(rateCells))}`,
    )
  process.stdout.write(`\nnext: homeground traces list ${shellWord(projects[0] ?? '')}\n`)
}

function rateCells({ k, passHat, passAt, tasks }: PassRates): string[] {
  return [String(k), passHat.toFixed(3), passAt.toFixed(3), String(tasks)]
}

/** One line on stderr that is written over, a few times a second; nothing where stderr is no terminal. */
function progressLine(): NonNullable<ImportOptions['onProgress']> {
  let last = 0
  return ({ phase, file, episodes }) => {
    const now = Date.now()
    if (!process.stderr.isTTY || now - last < 200) return
    last = now
    process.stderr.write(`\r\u001b[K${phase} ${inert(file)}: ${episodes} episodes`)
  }
}
