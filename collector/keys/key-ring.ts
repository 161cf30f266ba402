// The keys as a running collector knows them: the file is looked at again once a second, so that a revoked key stops working without a restart.
import fs from 'node:fs'
import { findKey, type Key, readKeys } from './key-file.ts'

export interface KeyRing {
  /** Whether requests need a key. Once there is a key file with keys, also with revoked ones alone. */
  isOn(): boolean
  find(text: string): Key | undefined
}

/** `now`: monotonic milliseconds. @throws HomegroundError invalid-settings where the file is damaged */
export function openKeyRing(file: string, now: () => number = () => performance.now()): KeyRing {
  let keys = readKeys(file)
  let stamp = stampOf(file)
  let looked = now()
  function current(): readonly Key[] {
    if (now() - looked < 1_000) return keys
    looked = now()
    const seen = stampOf(file)
    if (seen === stamp) return keys
    stamp = seen
    try {
      // A file that is gone does not open the door: the keys that were known stay.
      const next = readKeys(file)
      if (next.length > 0) keys = next
    } catch {
      // Damaged for the moment: the keys that were known stay.
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
