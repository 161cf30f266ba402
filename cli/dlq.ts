// `homeground dlq`: what was acknowledged and could not be stored, and what to do with it.
import { HomegroundError } from '@homeground/sdk/trace'
import type { Command } from 'commander'
import { collectorSettings, kafkaOptions, openDeadLetters } from '../collector/index.ts'
import { readSettings } from '../store/index.ts'
import { quietLog } from './quiet-log.ts'
import { wantsJson } from './store-options.ts'
import { inert, table } from './terminal.ts'

type Box = Awaited<ReturnType<typeof openDeadLetters>>

export function register(program: Command): void {
  const dlq = program
    .command('dlq')
    .description('dead letters of the Kafka queue: what was acknowledged and could not be stored, with the reason')
  dlq
    .command('list')
    .description('one line a letter, oldest first')
    .action((_options: object, command: Command) =>
      withBox(async (box) => {
        const letters = await box.list()
        if (wantsJson(command)) process.stdout.write(`${JSON.stringify(letters)}\n`)
        else if (letters.length === 0) process.stdout.write('no dead letters\n')
        else {
          const rows = letters.map(({ id, at, bytes, trace, reason }) => [id, at, String(bytes), trace, reason])
          process.stdout.write(table(['id', 'at', 'bytes', 'trace', 'reason'], rows))
        }
      }),
    )
  dlq
    .command('show')
    .argument('<ID>', 'as dlq list prints it')
    .description('one letter whole')
    .action((id: string, _options: object, command: Command) =>
      withBox(async (box) => {
        const letter = await box.show(id)
        if (wantsJson(command)) process.stdout.write(`${JSON.stringify(letter)}\n`)
        else
          process.stdout.write(
            `${inert(`${letter.id}\nat      ${letter.at}\ntrace   ${letter.trace}\nreason  ${letter.reason}`, { multiline: true })}\n\n${inert(letter.value)}\n`,
          )
      }),
    )
  for (const [name, description, done] of [
    ['retry', 'put letters on the topic again, after what was wrong is mended', 'sent again'],
    ['drop', 'take letters out for good', 'dropped'],
  ] as const) {
    dlq
      .command(name)
      .argument('[ID...]', 'as dlq list prints them')
      .option('--all', 'every letter')
      .description(description)
      .action((ids: string[], options: { all?: boolean }, command: Command) =>
        withBox(async (box) => {
          const count = await box[name](chosen(ids, options.all === true))
          process.stdout.write(wantsJson(command) ? `${JSON.stringify({ letters: count })}\n` : `${count} ${done}\n`)
        }),
      )
  }
}

function chosen(ids: string[], all: boolean): string[] | 'all' {
  if (all !== ids.length > 0) return all ? 'all' : ids
  throw new HomegroundError('invalid-argument', 'expected the ids of letters, or --all', { hint: '`homeground dlq list` shows the ids' })
}

async function withBox(work: (box: Box) => Promise<void>): Promise<void> {
  const kafka = kafkaOptions(readSettings(collectorSettings, process.env))
  if (kafka === undefined) {
    throw new HomegroundError('invalid-settings', 'HOMEGROUND_KAFKA_BROKERS is not set, and only the Kafka queue has dead letters', {
      hint: 'set the HOMEGROUND_KAFKA_* variables as for the collector',
    })
  }
  const box = await openDeadLetters(kafka, quietLog)
  try {
    await work(box)
  } finally {
    await box.close()
  }
}
