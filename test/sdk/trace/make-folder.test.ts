import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { makeFolder } from '@homeground/sdk/trace'
import { afterAll, beforeAll, expect, test } from 'vitest'

let folder: string
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-make-folder-'))
})
afterAll(() => fs.rmSync(folder, { recursive: true }))

test('makes a folder with all that is missing above it, in the given mode, and leaves one that is there', () => {
  const deep = path.join(folder, 'a', 'b')
  makeFolder(deep, { mode: 0o700 })
  makeFolder(deep)
  expect([path.join(folder, 'a'), deep].map((made) => fs.statSync(made).mode & 0o777)).toEqual([0o700, 0o700])
})

test('says so where a file is in the way', () => {
  const file = path.join(folder, 'file')
  fs.writeFileSync(file, '')
  expect(() => makeFolder(file)).toThrow(expect.objectContaining({ code: 'ENOTDIR' }))
  expect(() => makeFolder(path.join(file, 'below'))).toThrow(expect.objectContaining({ code: 'ENOTDIR' }))
})

test.skipIf(!fs.existsSync('/proc/self'))('comes back where the kernel takes no folder', () => {
  expect(() => makeFolder('/proc/homeground/deep')).toThrow(expect.objectContaining({ code: 'ENOENT' }))
})
