// Finds the two optional packages that the embedded engine is made of: chdb's shared library and the bridge that calls it (ffi-rs).
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { errorText, HomegroundError } from '@homeground/sdk/trace'

/** The command that brings the engine; printed wherever it is missing. */
export const installCommand = 'npm install chdb@3.4.0 ffi-rs@1.3.7'

/** Path of libchdb. @throws HomegroundError engine-missing, with the install command in the hint */
export function locateEngine(): string {
  const here = createRequire(import.meta.url)
  if (resolve(here, 'ffi-rs') === undefined) throw missing('the package ffi-rs is not installed')
  const chdb = resolve(here, 'chdb/package.json') ?? resolve(here, 'chdb')
  if (chdb === undefined) throw missing('the package chdb is not installed')
  const native = `@chdb/lib-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`
  const found = resolve(createRequire(chdb), native)
  if (found === undefined) throw missing(`chdb's package for this platform, ${native}, is not installed`)
  const library = ['libchdb.so', 'libchdb.dylib'].map((name) => path.join(path.dirname(found), name)).find((file) => fs.existsSync(file))
  if (library === undefined) throw missing(`${path.dirname(found)} holds no libchdb`)
  return library
}

/** Why the engine cannot run here; undefined where it can. */
export function engineMissing(): string | undefined {
  try {
    locateEngine()
    return undefined
  } catch (error) {
    return errorText(error)
  }
}

function missing(what: string): HomegroundError {
  return new HomegroundError('engine-missing', `the embedded ClickHouse engine cannot run: ${what}`, {
    hint: `${installCommand} (543 MB, once), or set HOMEGROUND_CLICKHOUSE_URL to a ClickHouse server`,
  })
}

function resolve(from: NodeJS.Require, name: string): string | undefined {
  try {
    return from.resolve(name)
  } catch {
    return undefined
  }
}
