// The keys as a running collector knows them: the file is looked at again once a second, so that a revoked key stops working without a restart.
import fs from 'node:fs'
import { errorText } from '@homeground/sdk/trace'
import type { Log } from '../http/types.ts'
import { findKey, type Key, readKeys } from './key-file.ts'

export interface KeyRing {
  /** Whether requests need a key. Once there is a key file with keys, also with revoked ones alone. */
  isOn(): boolean
  find(text: string): Key | undefined
}

export interface KeyRingOptions {
  /** Told once of a file that is gone, damaged or not to be read any more, and once when it is read again. */
  log: Pick<Log, 'info' | 'error'>
  /** Monotonic milliseconds. @default performance.now */
  now?: () => number
}

/** @throws HomegroundError invalid-settings where the file is damaged */
export function openKeyRing(file: string, { log, now = () => performance.now() }: KeyRingOptions): KeyRing {
  let keys = readKeys(file)
  let stamp = stampOf(file)
  let looked = now()
  let fault = ''
  function current(): readonly Key[] {
    if (now() - looked < 1_000) return keys
    looked = now()
    const seen = stampOf(file)
    if (seen === stamp) return keys
    try {
      const next = readKeys(file)
      if (next.length === 0 && keys.length > 0) throw new Error(`the key file ${file} is gone, or holds no key`)
      keys = next
      stamp = seen
      if (fault !== '') log.info({ file }, 'the key file is read again')
      fault = ''
    } catch (error) {
      // That opens no door: the keys that were known stay, and the file is tried again every second.
      const said = errorText(error)
      if (said !== fault) log.error({ error: said }, 'keys stay as they were known, revoked ones too, until their file can be read')
      fault = said
    }
    return keys
  }
  return { isOn: () => current().length > 0, find: (text) => findKey(current(), text) }
}

/** No keys at all: loopback only. */
export const noKeys: KeyRing = { isOn: () => false, find: () => undefined }

function stampOf(file: string): string {
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  return stat === undefined ? '' : `${stat.mtimeMs} ${stat.size} ${stat.ino}`
}
