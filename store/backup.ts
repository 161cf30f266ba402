// The embedded store as one file, taken while the engine works, and put back into a folder that holds none. ClickHouse's own BACKUP makes the file, so that
// every table is in it as it was at one moment. A server's backups are the server's: this is not for them.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { errorText, HomegroundError, makeFolder } from '@homeground/sdk/trace'
import { isWholeArchive } from './backup-archive.ts'
import { type Connection, connect } from './connection.ts'
import { fullDisk } from './disk-room.ts'
import { backupsFolder, processStart, startEngine } from './embedded/index.ts'
import { migrate } from './migrate.ts'
import { engineFolder } from './settings.ts'

export interface BackupOptions {
  /** The folder that holds the engine's. */
  folder: string
  database: string
}

/** A whole store may take its time. */
const requestTimeoutMs = 24 * 60 * 60 * 1_000

/**
 * Writes the store into `file`, which appears when it is whole.
 * @throws HomegroundError invalid-argument (the file is there), not-found (no store), disk-full, store-unavailable
 */
export async function backupStore(file: string, { folder, database }: BackupOptions): Promise<{ file: string; bytes: number }> {
  const target = path.resolve(file)
  refuseExisting(target)
  const home = engineFolder(folder)
  if (!holdsStore(home)) {
    throw new HomegroundError('not-found', `${home} holds no store`, {
      hint: 'give the folder with --folder; a ClickHouse server is backed up by its own BACKUP statement',
    })
  }
  const engine = await startEngine({ folder: home })
  const made = archiveIn(home)
  const connection = connect({ kind: 'embedded', engine }, { database: 'default', requestTimeoutMs })
  try {
    await makeArchive(connection, made, { database, home, target })
    moveWhole(made, target)
    return { file: target, bytes: fs.statSync(target).size }
  } finally {
    await connection.close()
    // The lock, which the engine leaves where it has no room to write it.
    for (const left of [made, `${made}.lock`]) fs.rmSync(left, { force: true })
    await engine.close()
  }
}

/** @throws HomegroundError where the engine says that it cannot, and where it says that it could and the archive is broken all the same */
async function makeArchive(connection: Connection, made: string, where: { database: string; home: string; target: string }): Promise<void> {
  const { database, home, target } = where
  const what = `${target} cannot be made`
  const hint = 'free about as much as the store takes, where it lies: the archive is made there first; then give the same command again'
  try {
    await connection.command(`BACKUP DATABASE ${database} TO File('${quoted(made)}')`)
  } catch (cause) {
    throw fullDisk({ place: home, what, hint, cause }) ?? cause
  }
  if (isWholeArchive(made)) return
  const broken = new HomegroundError('engine-failed', `${what}: the archive that the engine made ends in the middle`, { hint })
  throw fullDisk({ place: home, what, hint }) ?? broken
}

/**
 * Puts a backup into a folder that holds no store. It is restored beside its place and moved there when it is whole and its schema is known,
 * so a restore that was broken off has changed nothing and is begun anew.
 * @throws HomegroundError not-found, invalid-argument (the folder holds a store), invalid-input (the file is no backup of this database), store-newer, disk-full
 */
export async function restoreStore(file: string, { folder, database }: BackupOptions): Promise<{ folder: string }> {
  const source = path.resolve(file)
  if (!fs.existsSync(source)) throw new HomegroundError('not-found', `${source} is not there`, { hint: 'check the path of the backup' })
  const home = engineFolder(path.resolve(folder))
  if (holdsStore(home)) {
    throw new HomegroundError('invalid-argument', `${home} holds a store already`, {
      hint: 'give another --folder, or move that one away first: a restore overwrites nothing',
    })
  }
  if (!fs.statSync(source).isFile() || !isWholeArchive(source)) {
    throw new HomegroundError('invalid-input', `${source} cannot be restored: it is no backup, or a part of one`, {
      hint: 'give a whole file of `homeground backup`; one that was copied may have been cut on the way',
    })
  }
  const beside = `${home}.restoring`
  // One that was killed may have left its engine at work there.
  if (fs.existsSync(beside))
    await startEngine({ folder: beside })
      .then((left) => left.close({ stop: true }))
      .catch(() => {})
  fs.rmSync(beside, { recursive: true, force: true })
  try {
    await restoreInto(beside, source, database)
    makeFolder(home, { mode: 0o700 })
    fs.renameSync(dataOf(beside), dataOf(home))
  } catch (cause) {
    const hint =
      'free about twice the size of the backup, or give a --folder on another disk; then give the same command again: nothing was restored'
    throw fullDisk({ place: home, what: `${source} cannot be restored`, hint, cause }) ?? cause
  } finally {
    fs.rmSync(beside, { recursive: true, force: true })
  }
  return { folder: home }
}

async function restoreInto(home: string, source: string, database: string): Promise<void> {
  const engine = await startEngine({ folder: home })
  const archive = archiveIn(home)
  try {
    fs.copyFileSync(source, archive, fs.constants.COPYFILE_FICLONE)
    const bare = connect({ kind: 'embedded', engine }, { database: 'default', requestTimeoutMs })
    try {
      await bare.command(`RESTORE DATABASE ${database} FROM File('${quoted(archive)}')`)
    } catch (cause) {
      if (HomegroundError.is(cause) && cause.code !== 'internal') throw cause
      throw new HomegroundError('invalid-input', `${source} cannot be restored as database ${database}: ${errorText(cause)}`, {
        hint: 'give a file of `homeground backup`, and the HOMEGROUND_CLICKHOUSE_DATABASE that it was made with',
        cause,
      })
    } finally {
      await bare.close()
    }
    const connection = connect({ kind: 'embedded', engine }, { database })
    await migrate(connection).finally(() => connection.close())
  } finally {
    await engine.close({ stop: true })
  }
}

/** A link, where both are on one disk, else a copy beside the place first: what bears the name is always whole. Neither overwrites, as a rename would. */
function moveWhole(from: string, to: string): void {
  const beside = `${to}.partial`
  try {
    makeFolder(path.dirname(to))
    if (isLinked(from, to)) return
    fs.copyFileSync(from, beside)
    const written = fs.openSync(beside, 'r')
    fs.fsyncSync(written)
    fs.closeSync(written)
    fs.linkSync(beside, to)
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'EEXIST') refuseExisting(to)
    const full = fullDisk({ place: to, what: `${to} cannot be written`, hint: 'make room, or give a path on another disk', cause })
    if (full !== undefined) throw full
    throw new HomegroundError('folder-unwritable', `${to} cannot be written: ${errorText(cause)}`, {
      hint: 'check the path and who may write there',
      cause,
    })
  } finally {
    fs.rmSync(beside, { force: true })
  }
}

/** False where the two are on different disks. */
function isLinked(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to)
    return true
  } catch (error) {
    if (codeOf(error) === 'EXDEV') return false
    throw error
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

function refuseExisting(file: string): void {
  if (!fs.existsSync(file)) return
  throw new HomegroundError('invalid-argument', `${file} is there already`, { hint: 'give another name: a backup overwrites nothing' })
}

/** A place for an archive where the engine may read and write. What a process that was killed has left there goes: it is as large as the store. */
function archiveIn(home: string): string {
  const folder = backupsFolder(home)
  makeFolder(folder, { mode: 0o700 })
  for (const name of fs.readdirSync(folder)) {
    if (processStart(Number.parseInt(name, 10)) === undefined) fs.rmSync(path.join(folder, name), { recursive: true, force: true })
  }
  return path.join(folder, `${process.pid}-${randomBytes(6).toString('hex')}.tar`)
}

function dataOf(home: string): string {
  return path.join(home, 'clickhouse')
}

function holdsStore(home: string): boolean {
  return fs.existsSync(path.join(dataOf(home), 'metadata')) || fs.existsSync(path.join(dataOf(home), 'store'))
}

function quoted(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
}
