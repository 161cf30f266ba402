// What the system said of a file, as an error that a person can act on: which file, why, and what to do.
import { type ErrorCode, HomegroundError } from '@homeground/sdk/trace'
import { inert } from './terminal.ts'

const permission = 'give the user that runs the command the right to it, or name another place'
const another = 'name another file or folder'

const known: Readonly<Record<string, { code: ErrorCode; what: string; hint: string }>> = {
  ENOSPC: {
    code: 'disk-full',
    what: 'the disk is full',
    hint: 'free some space, then give the same command again: what was finished is kept',
  },
  EDQUOT: {
    code: 'disk-full',
    what: 'the quota of this user is used up',
    hint: 'free some space, then give the same command again: what was finished is kept',
  },
  EACCES: { code: 'folder-unwritable', what: 'permission denied', hint: permission },
  EPERM: { code: 'folder-unwritable', what: 'permission denied', hint: permission },
  EROFS: { code: 'folder-unwritable', what: 'the file system is read-only', hint: another },
  EISDIR: { code: 'invalid-argument', what: 'it is a folder, where a file is expected', hint: another },
  ENOTDIR: { code: 'invalid-argument', what: 'a part of the path is a file, where a folder is expected', hint: another },
  EEXIST: { code: 'invalid-argument', what: 'something of that name is there already', hint: another },
  ENOTEMPTY: { code: 'invalid-argument', what: 'a folder of that name is there already, and not empty', hint: another },
  ENAMETOOLONG: { code: 'invalid-argument', what: 'the name is too long', hint: another },
  ELOOP: { code: 'invalid-argument', what: 'its links lead in a circle', hint: another },
  ENOENT: { code: 'not-found', what: 'it is not there', hint: 'check the path; it is relative to the current folder' },
}

/** `undefined` where the system said nothing of the kind: then the fault is ours. */
export function systemError(error: unknown): HomegroundError | undefined {
  if (!(error instanceof Error) || HomegroundError.is(error)) return undefined
  const { code, path, dest, syscall }: NodeJS.ErrnoException & { dest?: string } = error
  const found = code !== undefined && Object.hasOwn(known, code) ? known[code] : undefined
  if (found === undefined || syscall === undefined) return undefined
  const place = dest ?? path
  return new HomegroundError(found.code, `${place === undefined ? 'a file' : inert(place)} cannot be used (${syscall}): ${found.what}`, {
    hint: found.hint,
    cause: error,
  })
}
