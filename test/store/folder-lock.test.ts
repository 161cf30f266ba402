import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { releaseLock, takeLock, withLock } from '../../store/folder-lock.ts'

const says = { place: 'the folder', busy: 'fills it', hint: 'wait' }
let folder = ''
let file = ''
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-lock-'))
  file = path.join(folder, 'a.lock')
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

describe('a lock', () => {
  it('names its process, and is gone when it is released', () => {
    takeLock(file, says)
    expect(fs.readFileSync(file, 'utf8')).toBe(String(process.pid))
    releaseLock(file)
    expect(fs.readdirSync(folder)).toEqual([])
  })

  it('of a process that lives is left alone, and the process named', () => {
    fs.writeFileSync(file, String(process.ppid))
    expect(() => takeLock(file, says)).toThrow(
      expect.objectContaining({ code: 'invalid-argument', message: `the folder: process ${process.ppid} fills it` }),
    )
    expect(fs.readFileSync(file, 'utf8')).toBe(String(process.ppid))
  })

  it('of a process that is gone is taken over', () => {
    fs.writeFileSync(file, String(spawnSync(process.execPath, ['--version']).pid))
    takeLock(file, says)
    expect([fs.readFileSync(file, 'utf8'), fs.readdirSync(folder)]).toEqual([String(process.pid), ['a.lock']])
  })

  it('that was made a moment ago and has no name yet is held; an old one was left by a kill', () => {
    fs.writeFileSync(file, '')
    expect(() => takeLock(file, says)).toThrow('the folder: a process fills it')
    fs.utimesSync(file, new Date(0), new Date(0))
    takeLock(file, says)
    expect(fs.readFileSync(file, 'utf8')).toBe(String(process.pid))
  })

  it('of a process that is gone is left to who takes it over already, unless that one was killed at it', () => {
    const gone = String(spawnSync(process.execPath, ['--version']).pid)
    fs.writeFileSync(file, gone)
    fs.writeFileSync(`${file}.takeover`, '')
    expect(() => takeLock(file, says)).toThrow(`process ${gone} fills it`)
    fs.utimesSync(`${file}.takeover`, new Date(0), new Date(0))
    expect(withLock(file, says, () => fs.readdirSync(folder))).toEqual(['a.lock'])
  })

  it('in a folder that is not there says so', () => {
    expect(() => takeLock(path.join(folder, 'none', 'a.lock'), says)).toThrow(expect.objectContaining({ code: 'ENOENT' }))
  })

  it('of short work is waited for, and given back where that fails', () => {
    fs.writeFileSync(file, String(process.ppid))
    expect(() => withLock(file, says, () => 1, 30)).toThrow('fills it')
    releaseLock(file)
    expect(() =>
      withLock(file, says, () => {
        throw new RangeError('no')
      }),
    ).toThrow(RangeError)
    expect(withLock(file, says, () => fs.readdirSync(folder))).toEqual(['a.lock'])
    expect(fs.readdirSync(folder)).toEqual([])
  })
})
