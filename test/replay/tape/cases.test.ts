// test/cases/replay, one test a file: a tape, a candidate's calls, and what answers them.
import { canonicalJson, type Json } from '@homeground/sdk/trace'
import { describe, expect, test } from 'vitest'
import type { TapeEntry, ToolSettings } from '../../../replay/environment/types.ts'
import { parseArguments } from '../../../replay/tape/arguments.ts'
import { argumentsHash } from '../../../replay/tape/key.ts'
import { Tape } from '../../../replay/tape/tape.ts'
import type { TapeAnswer } from '../../../replay/tape/types.ts'
import { readCases } from '../../support/cases.ts'

interface Case {
  id: string
  why: string
  tools: Record<string, ToolSettings & { implemented?: boolean }>
  redact?: { path: string; replace: string }[]
  tape: (TapeEntry & { parent?: string })[]
  calls: CaseCall[]
  turns?: string[][]
  expect: {
    offTape: { count: number; first?: number }
    unconsumed: number[]
    unconsumedWrites?: number[]
    live: string[]
    stop?: string
    score?: null
    toolMessages?: [string, Json][]
  }
}

interface CaseCall {
  name: string
  arguments?: Json
  argumentsText?: string
  callId?: string
  parent?: string
  expect: {
    hit?: number
    result?: Json
    throws?: { type: string; message: string }
    miss?: string
    served?: number
    modelError?: string
    live?: boolean
  }
}

describe('replay cases', () => {
  const cases = readCases('replay') as Case[]
  for (const { why, ...given } of cases) {
    test(`${given.id}: ${why}`, () => {
      const tools = Object.fromEntries(
        Object.entries(given.tools).map(([name, settings]) => [name, { ...settings, ...(given.redact ? { redact: given.redact } : {}) }]),
      )
      const tape = new Tape(given.tape.map(entryOf), { tools })
      const announced = new Set<string[]>()
      let stop: string | undefined
      for (const call of given.calls) {
        const turn = given.turns?.find((ids) => call.callId !== undefined && ids.includes(call.callId))
        if (turn && !announced.has(turn)) {
          announced.add(turn)
          const calls = turn.flatMap((id) => given.calls.find((other) => other.callId === id) ?? [])
          tape.announce(calls.map(callOf), call.parent)
        }
        const answer = tape.tool(callOf(call))
        expect(describeAnswer(answer, call.expect)).toEqual(call.expect)
        if (answer.kind === 'miss' && answer.policy === 'fail') stop = 'off-tape'
      }
      const report = tape.report()
      expect(report.offTape).toEqual(given.expect.offTape)
      expect(report.unconsumed).toEqual(given.expect.unconsumed)
      expect(report.live).toEqual(given.expect.live)
      if (given.expect.unconsumedWrites) expect(report.unconsumedWrites).toEqual(given.expect.unconsumedWrites)
      expect(stop).toBe(given.expect.stop)
    })
  }

  test('there are at least the thirteen cases', () => {
    expect(cases.length).toBeGreaterThanOrEqual(13)
  })
})

function entryOf({ parent, ...entry }: Case['tape'][number]): TapeEntry {
  const value = entry.arguments ?? {}
  return {
    ...entry,
    kind: 'tool',
    arguments: value,
    hash: argumentsHash(value),
    durationMs: 0,
    ...(parent === undefined ? {} : { lane: parent }),
  }
}

function callOf(call: CaseCall): Parameters<Tape['tool']>[0] {
  const parsed = call.argumentsText === undefined ? undefined : parseArguments(call.argumentsText)
  const value = parsed === undefined ? (call.arguments ?? {}) : parsed.ok ? parsed.value : parsed.text
  return {
    name: call.name,
    arguments: value,
    ...(call.callId === undefined ? {} : { callId: call.callId }),
    ...(call.parent === undefined ? {} : { lane: call.parent }),
  }
}

/** The answer in the words of the case, with only the keys that the case looks at. */
function describeAnswer(answer: TapeAnswer, wanted: CaseCall['expect']): CaseCall['expect'] {
  switch (answer.kind) {
    case 'hit':
      return {
        hit: answer.entry.seq,
        ...('result' in wanted && answer.entry.result !== undefined ? { result: answer.entry.result } : {}),
        ...('throws' in wanted && answer.entry.error ? { throws: answer.entry.error } : {}),
      }
    case 'miss':
      return { miss: answer.policy, ...(answer.entry ? { served: answer.entry.seq } : {}) }
    case 'model-error':
      return { modelError: answer.type }
    case 'live':
      return { live: true }
    default:
      throw new Error(`no case expects ${canonicalJson(answer.kind)}`)
  }
}
