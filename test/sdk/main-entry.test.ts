import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

const root = path.join(import.meta.dirname, '../../sdk')

/** Packages that a module brings in as it is loaded, its own files followed. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>()
  if (seen.has(file)) return packages
  seen.add(file)
  const source = fs.readFileSync(file, 'utf8')
  for (const [, kind, name = ''] of source.matchAll(/^(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'|^import\s+'[^']+'/gm)) {
    if (kind !== undefined || name.startsWith('node:')) continue
    if (name.startsWith('.')) for (const each of packagesOf(path.join(path.dirname(file), name), seen)) packages.add(each)
    else packages.add(name)
  }
  return packages
}

describe('the main entry', () => {
  it('imports no package: neither zod nor anything of OpenTelemetry’s', () => {
    expect([...packagesOf(path.join(root, 'index.ts'))]).toEqual([])
  })

  it('is a few files as it is published, and none of Node’s modules that take long to load', () => {
    const files = new Set<string>()
    const named = new Set<string>()
    const follow = (file: string): void => {
      if (files.has(file)) return
      files.add(file)
      for (const [, from = ''] of fs.readFileSync(file, 'utf8').matchAll(/^(?:import|export)[^;]*?from "([^"]+)"/gm))
        if (from.startsWith('.')) follow(path.join(path.dirname(file), from))
        else named.add(from)
    }
    follow(path.join(root, 'dist/index.js'))
    expect(files.size).toBeLessThanOrEqual(8)
    // node:fs and node:util are loaded before any program’s first line (process.moduleLoadList), so naming them costs nothing.
    expect([...named].filter((name) => !/^node:(async_hooks|buffer|fs|fs\/promises|os|path|timers|util)$/.test(name))).toEqual([])
  })

  it('does not have Node load its fetch, which takes longer than all else: the product’s first call does', () => {
    const source = `await import(${JSON.stringify(path.join(root, 'dist/index.js'))}); process.stdout.write(process.moduleLoadList.join())`
    const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' })
    expect(loaded).toContain('NativeModule fs')
    expect(loaded).not.toContain('undici')
  })

  it('has one copy of what it shares with the other entries', () => {
    const places = fs
      .readdirSync(path.join(root, 'dist'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.js') && fs.readFileSync(path.join(root, 'dist', file), 'utf8').includes('@homeground/sdk/seam@1'))
    expect(places).toHaveLength(1)
  })

  it('is told from one that does: the entry for readers of episodes brings zod', () => {
    expect([...packagesOf(path.join(root, 'trace/index.ts'))]).toContain('zod')
  })
})
