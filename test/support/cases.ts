// The cases of test/cases, as its README says: one JSON file a case.
import fs from 'node:fs'
import type { Json } from '@homeground/sdk/trace'
import { z } from 'zod'

/** All cases of a folder of test/cases, with what they have us generate in its place. */
export function readCases(name: string): unknown[] {
  const folder = new URL(`../cases/${name}/`, import.meta.url)
  const files = fs.readdirSync(folder).filter((file) => file.endsWith('.json'))
  return files.map((file) => generated(JSON.parse(fs.readFileSync(new URL(file, folder), 'utf8')), { n: 0 }))
}

/** What a provider sent, and what must be recorded. */
export interface StreamCase {
  id: string
  why: string
  api: string
  request: Record<string, unknown>
  response: {
    status: number
    headers: Record<string, string>
    chunks?: (string | { base64: string })[]
    body?: unknown
    end?: 'close' | 'reset' | 'hold'
  }
  consume: 'all' | 'tee' | 'break-after-2' | 'throw' | 'abort'
  expect: {
    responseBody?: Json
    canonical: { outputs: { role: string; parts: Record<string, unknown>[] }[]; finishReasons: string[]; usage: unknown } | null
    status: 'ok' | 'partial' | 'error'
    errorType?: string
    upstreamCancelled?: boolean
  }
}

export function streamCases(): StreamCase[] {
  return readCases('stream') as StreamCase[]
}

/** Puts real values in place of `{"generate": …}`. */
function generated(value: unknown, counter: { n: number }): unknown {
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown) => {
      const times = z.object({ generate: z.object({ times: z.number(), each: z.unknown().optional() }) }).safeParse(item)
      if (!times.success) return [generated(item, counter)]
      return Array.from({ length: times.data.generate.times }, () => {
        counter.n += 1
        return generated(numbered(times.data.generate.each, counter.n), counter)
      })
    })
  }
  if (typeof value !== 'object' || value === null) return value
  const repeat = z.object({ generate: z.object({ repeat: z.number(), char: z.string() }) }).safeParse(value)
  if (repeat.success) return repeat.data.generate.char.repeat(repeat.data.generate.repeat)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, generated(member, counter)]))
}

function numbered(value: unknown, n: number): unknown {
  const text = JSON.stringify(value)
    .replaceAll('{n}', String(n))
    .replaceAll('{n:hex16}', n.toString(16).padStart(16, '0'))
    .replaceAll('{n:ns}', String(1_764_600_000_000_000_000n + BigInt(n) * 1_000_000n))
  return JSON.parse(text)
}
