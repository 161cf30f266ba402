// The collector's keys: a file of hashes, so that every role can check them without the store, and nobody who reads the file can use them.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { errorText, HomegroundError, hasErrorCode, makeFolder } from '@homeground/sdk/trace'
import { z } from 'zod'
import { withLock } from '../../store/folder-lock.ts'

export const rights = ['ingest', 'read'] as const
export type Right = (typeof rights)[number]

const keySchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  /** `*`: every project. */
  project: z.string(),
  rights: z.array(z.enum(rights)),
  /** sha256 of the whole key, hex. A key is 256 bits of chance: a slow hash would add nothing. */
  hash: z.string(),
  createdAt: z.string(),
  revokedAt: z.string().optional(),
})
const fileSchema = z.strictObject({ format: z.literal(1), keys: z.array(keySchema) })

export type Key = z.infer<typeof keySchema>

/** All keys of the file, revoked ones too; none where there is no file. @throws HomegroundError invalid-settings where it is damaged */
export function readKeys(file: string): Key[] {
  let text: string
  try {
    text = fs.readFileSync(file, 'utf8')
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return []
    const why = errorText(error)
    throw new HomegroundError('invalid-settings', `the key file ${file} cannot be read: ${why}`, {
      hint: 'give the user that runs the command the right to read it, or name another file with HOMEGROUND_KEYS_FILE',
      cause: error,
    })
  }
  try {
    return fileSchema.parse(JSON.parse(text)).keys
  } catch (error) {
    throw damaged(file, error)
  }
}

/** Makes a key and gives its text, which is nowhere kept. */
export function createKey(
  file: string,
  given: { name: string; project: string; rights: readonly Right[] },
  now: () => number = Date.now,
): { key: Key; text: string } {
  const id = randomBytes(4).toString('hex')
  const text = `hg_${id}_${randomBytes(32).toString('base64url')}`
  const key: Key = {
    id,
    name: given.name,
    project: given.project,
    rights: [...given.rights],
    hash: hashOf(text),
    createdAt: new Date(now()).toISOString(),
  }
  changeKeys(file, (keys) => [...keys, key])
  return { key, text }
}

/** From the next second on the key opens nothing. @throws HomegroundError not-found */
export function revokeKey(file: string, id: string, now: () => number = Date.now): void {
  changeKeys(file, (keys) => {
    if (!keys.some((key) => key.id === id && key.revokedAt === undefined)) {
      throw new HomegroundError('not-found', `there is no key ${id} to revoke`, { hint: '`homeground keys list` lists them' })
    }
    return keys.map((key) => (key.id === id ? { ...key, revokedAt: new Date(now()).toISOString() } : key))
  })
}

/** The key that this text is. Takes as long for a wrong text as for a right one. */
export function findKey(keys: readonly Key[], text: string): Key | undefined {
  const id = /^hg_([0-9a-f]{8})_/.exec(text)?.[1]
  const known = keys.find((key) => key.id === id && key.revokedAt === undefined)
  const same = timingSafeEqual(Buffer.from(hashOf(text), 'hex'), Buffer.from(known?.hash ?? '0'.repeat(64), 'hex'))
  return same ? known : undefined
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** One process at a time: of two that changed the file at one moment the later would undo what the other did, a revocation too. */
function changeKeys(file: string, change: (keys: readonly Key[]) => readonly Key[]): void {
  makeFolder(path.dirname(file), { mode: 0o700 })
  const says = { place: file, busy: 'changes the keys', hint: 'give the command again when that has ended' }
  withLock(`${file}.lock`, says, () => writeKeys(file, change(readKeys(file))))
}

/** It stays whose it is, and as readable as it is: a collector that could no longer read it would go on with the keys that it knows, a revoked one among them. */
function writeKeys(file: string, keys: readonly Key[]): void {
  const next = `${file}.${process.pid}.next`
  const before = fs.statSync(file, { throwIfNoEntry: false })
  try {
    fs.writeFileSync(next, `${JSON.stringify({ format: 1, keys }, null, 2)}\n`, { mode: 0o600 })
    if (before !== undefined) {
      fs.chownSync(next, before.uid, before.gid)
      fs.chmodSync(next, before.mode)
    }
    fs.renameSync(next, file)
  } finally {
    fs.rmSync(next, { force: true })
  }
}

function damaged(file: string, cause: unknown): HomegroundError {
  return new HomegroundError('invalid-settings', `the key file ${file} is damaged`, {
    hint: 'restore it from a backup; `homeground keys create` makes a new one where there is none',
    cause,
  })
}
