// `homeground keys create|list|revoke`: who may send to the collector, and who may read from it.
import { HomegroundError } from '@homeground/sdk/trace'
import type { Command } from 'commander'
import { collectorSettings, createKey, keyFile, type Right, readKeys, revokeKey, rights } from '../collector/index.ts'
import { readSettings } from '../store/index.ts'
import { environmentWith, folderOption, wantsJson } from './store-options.ts'
import { inert, table } from './terminal.ts'

export function register(program: Command): void {
  const keys = program.command('keys').description('who may send to the collector, and who may read from it')
  keys
    .command('create')
    .description('makes a key and prints it once')
    .argument('<name>', 'what it is for, e.g. checkout-service')
    .requiredOption('--project <NAME>', "the one project that it is good for, or '*' for every one", projectOf)
    .option('--rights <LIST>', 'ingest, read or both, separated by a comma', rightsOf, ['ingest'])
    .addOption(folderOption())
    .action((name: string, options: { project: string; rights: Right[]; folder?: string }, command: Command) => {
      const { key, text } = createKey(fileOf(options), { name, project: options.project, rights: options.rights })
      if (wantsJson(command)) process.stdout.write(`${JSON.stringify({ id: key.id, key: text })}\n`)
      else
        process.stdout.write(
          `${text}\nIt is shown this once. In the product: homeground({ …, apiKey }), or the header Authorization: Bearer KEY.\n`,
        )
    })
  keys
    .command('list')
    .description('one line a key; never the key itself')
    .addOption(folderOption())
    .action((options: { folder?: string }, command: Command) => {
      const list = readKeys(fileOf(options)).map(({ hash: _hash, ...shown }) => shown)
      if (wantsJson(command)) process.stdout.write(`${JSON.stringify(list)}\n`)
      else if (list.length === 0) process.stdout.write('no keys: the collector listens on this machine only\n')
      else {
        const rows = list.map((key) => [
          key.id,
          key.name,
          key.project,
          key.rights.join(','),
          key.createdAt.slice(0, 10),
          key.revokedAt?.slice(0, 10) ?? '',
        ])
        process.stdout.write(table(['id', 'name', 'project', 'rights', 'created', 'revoked'], rows))
      }
    })
  keys
    .command('revoke')
    .description('takes a key back; running collectors know within a second')
    .argument('<id>', 'as keys list prints it')
    .addOption(folderOption())
    .action((id: string, options: { folder?: string }, command: Command) => {
      revokeKey(fileOf(options), id)
      process.stdout.write(wantsJson(command) ? `${JSON.stringify({ id, revoked: true })}\n` : `${inert(id)} is revoked\n`)
    })
}

function fileOf(options: { folder?: string }): string {
  return keyFile(readSettings(collectorSettings, environmentWith({ HOMEGROUND_FOLDER: options.folder })))
}

function projectOf(name: string): string {
  if (name !== '') return name
  throw new HomegroundError('invalid-argument', '--project is empty', {
    hint: "name the project that the key is good for, or '*' for every one",
  })
}

function rightsOf(text: string): Right[] {
  const wanted = text.split(',').map((word) => word.trim())
  const known = rights.filter((right) => wanted.includes(right))
  if (known.length === wanted.length && known.length > 0) return [...known]
  throw new HomegroundError('invalid-argument', `--rights ${inert(text)}: expected ${rights.join(', ')} or both`, {
    hint: 'for example --rights ingest,read',
  })
}
