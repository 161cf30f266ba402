// `homeground label ENV`: writes the page on which a person scores the environment's recordings.
import fs from 'node:fs'
import path from 'node:path'
import { type Command, Option } from 'commander'
import { openEnvironment } from '../replay/environment/open.ts'
import type { Split } from '../replay/environment/types.ts'
import { spread, taskPart } from '../replay/rubric/index.ts'
import { type LabelItem, renderLabelPage } from '../replay/rubric/label-page/render-label-page.ts'
import { countOf } from './option-values.ts'
import { wantsJson } from './store-options.ts'
import { inert } from './terminal.ts'

interface LabelCommandOptions {
  split?: Split
  limit: number
  out?: string
}

export function register(program: Command): void {
  program
    .command('label')
    .description('one page on which a person scores recordings, to calibrate judges')
    .argument('<environment>', 'the environment folder')
    .addOption(new Option('--split <NAME>', 'tasks of this split only').choices(['train', 'validation', 'test']))
    .option('--limit <N>', 'so many recordings at most, spread over the environment', countOf, 50)
    .option('--out <FILE>', 'where the page goes (default: label.html in the environment folder)')
    .action(async (folder: string, options: LabelCommandOptions, command: Command) => {
      const environment = await openEnvironment(folder)
      try {
        const items: LabelItem[] = []
        const ids: string[] = []
        for await (const { id } of environment.tasks(options.split === undefined ? {} : { split: options.split })) ids.push(id)
        for (const id of spread(ids, options.limit)) {
          const [task, recording] = [await environment.task(id), await environment.recording(id)]
          if (task && recording) items.push({ task, episode: taskPart(recording, task) })
        }
        const out = options.out ?? path.join(folder, 'label.html')
        fs.writeFileSync(out, renderLabelPage(environment.file.name, environment.rubric, items))
        process.stdout.write(
          wantsJson(command)
            ? `${JSON.stringify({ page: out, recordings: items.length })}\n`
            : `${inert(out)}: ${items.length === 1 ? '1 recording' : `${items.length} recordings`}; open it in a browser, save labels.jsonl, then\n  homeground grade ${inert(folder)} --labels labels.jsonl\n`,
        )
      } finally {
        await environment.close()
      }
    })
}
