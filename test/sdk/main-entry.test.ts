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
  it('imports neither zod nor an OpenTelemetry SDK, only its interface', () => {
    expect([...packagesOf(path.join(root, 'index.ts'))]).toEqual(['@opentelemetry/api'])
  })

  it('is told from one that does: the entry for readers of episodes brings zod', () => {
    expect([...packagesOf(path.join(root, 'trace/index.ts'))]).toContain('zod')
  })
})
