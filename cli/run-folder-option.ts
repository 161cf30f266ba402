// A run named on the command line: its folder, or its id under the runs folder.
import fs from 'node:fs'
import path from 'node:path'
import { HomegroundError } from '@homeground/sdk/trace'
import { inert } from './terminal.ts'

/** @throws HomegroundError not-found: both places that were looked at */
export function runFolder(run: string, folder: string | undefined): string {
  const byId = path.join(homegroundFolder(folder), 'runs', run)
  // A run may have the name of its environment, whose folder stands here.
  if (fs.existsSync(path.join(run, 'run.json')) || (fs.existsSync(run) && !fs.existsSync(byId))) return run
  if (fs.existsSync(byId)) return byId
  throw new HomegroundError('not-found', `there is no run ${inert(run)}: neither a folder nor ${inert(byId)}`, {
    hint: '`homeground run ENV --arm NAME=MODEL` makes one and prints its folder',
  })
}

/** What was given, else HOMEGROUND_FOLDER, else `.homeground`. An empty variable is not set, as everywhere. */
export function homegroundFolder(folder: string | undefined): string {
  return folder ?? (process.env['HOMEGROUND_FOLDER'] || '.homeground')
}
