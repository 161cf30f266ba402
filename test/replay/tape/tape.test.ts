import type { Json } from '@homeground/sdk/trace'
import { describe, expect, test } from 'vitest'
import type { TapeEntry, ToolSettings } from '../../../replay/environment/types.ts'
import { argumentsHash } from '../../../replay/tape/key.ts'
import { Tape } from '../../../replay/tape/tape.ts'

const onTape: ToolSettings = { mode: 'tape', onMiss: 'error' }

function entry(seq: number, name: string, args: Json, more: Partial<TapeEntry> = {}): TapeEntry {
  return { seq, kind: 'tool', name, arguments: args, hash: argumentsHash(args), result: `r${seq}`, durationMs: 1, effect: 'read', ...more }
}

describe('Tape', () => {
  test('serves parallel identical calls in the order of the model message, whatever order they arrive in', () => {
    const tape = new Tape([entry(1, 'roll', {}), entry(2, 'roll', {}), entry(3, 'roll', {})], { tools: { roll: onTape } })
    tape.announce([
      { name: 'roll', arguments: {}, callId: 'a' },
      { name: 'roll', arguments: {}, callId: 'b' },
      { name: 'roll', arguments: {}, callId: 'c' },
    ])
    const order = ['c', 'a', 'b'].map((callId) => tape.tool({ name: 'roll', arguments: {}, callId }))
    expect(order.map((answer) => answer.kind === 'hit' && answer.entry.seq)).toEqual([3, 1, 2])
  })

  test('gives the entries of a parallel call that never came to the next message', () => {
    const tape = new Tape([entry(1, 'roll', {}), entry(2, 'roll', {})], { tools: { roll: onTape } })
    const both = [
      { name: 'roll', arguments: {}, callId: 'a' },
      { name: 'roll', arguments: {}, callId: 'b' },
    ]
    tape.announce(both)
    expect(tape.tool({ name: 'roll', arguments: {}, callId: 'b' })).toMatchObject({ kind: 'hit', entry: { seq: 2 } })
    tape.announce([])
    expect(tape.tool({ name: 'roll', arguments: {}, callId: 'x' })).toMatchObject({ kind: 'hit', entry: { seq: 1 } })
  })

  test('never lets one lane borrow from another', () => {
    const tape = new Tape([entry(1, 'search', { q: 'a' }, { lane: 'research' }), entry(2, 'search', { q: 'a' })], {
      tools: { search: onTape },
    })
    expect(tape.tool({ name: 'search', arguments: { q: 'a' } })).toMatchObject({ kind: 'hit', entry: { seq: 2 } })
    expect(tape.tool({ name: 'search', arguments: { q: 'a' } })).toMatchObject({ kind: 'miss', policy: 'error' })
    expect(tape.tool({ name: 'search', arguments: { q: 'a' }, lane: 'research' })).toMatchObject({ kind: 'hit', entry: { seq: 1 } })
  })

  test('takes 1.0, -0, escapes and Unicode forms for what they mean', () => {
    const tape = new Tape([entry(1, 'f', { n: 1, z: 0, s: 'é' })], { tools: { f: onTape } })
    expect(tape.tool({ name: 'f', arguments: JSON.parse('{"s":"e\\u0301","z":-0,"n":1.0}') })).toMatchObject({ kind: 'hit' })
  })

  test('redacts before it matches, at the path and nowhere else', () => {
    const tools = { pay: { ...onTape, redact: [{ path: 'cards.*.number', replace: '[card]' }] } }
    const tape = new Tape([entry(1, 'pay', { cards: [{ number: '[card]', cvc: '1' }] })], { tools })
    expect(tape.tool({ name: 'pay', arguments: { cards: [{ number: '4242', cvc: '2' }] } })).toMatchObject({ kind: 'miss' })
    expect(tape.tool({ name: 'pay', arguments: { cards: [{ number: '4242', cvc: '1' }] } })).toMatchObject({ kind: 'hit' })
  })

  test('answers the same malformed call as the recording did', () => {
    const tape = new Tape([entry(1, 'f', '{"a": ', { result: 'bad JSON' })], { tools: { f: onTape } })
    expect(tape.tool({ name: 'f', arguments: '{"a": ' })).toMatchObject({ kind: 'hit', entry: { result: 'bad JSON' } })
    expect(tape.tool({ name: 'f', arguments: '{"a": ' })).toMatchObject({ kind: 'model-error', type: 'invalid-arguments' })
  })

  test('takes a tool that the product has, but no recording knows, as off the tape and not as unknown', () => {
    const tape = new Tape([], { tools: {} })
    expect(tape.tool({ name: 'fresh', arguments: {}, implemented: true })).toMatchObject({ kind: 'miss', policy: 'error' })
    expect(tape.tool({ name: 'fresh', arguments: {} })).toMatchObject({ kind: 'model-error', type: 'unknown-tool' })
    expect(tape.report().offTape).toEqual({ count: 1, first: 1 })
  })

  test('never serves the nearest of a write or of an effect not known', () => {
    const tools: Record<string, ToolSettings> = { w: { mode: 'tape', onMiss: 'nearest' }, u: { mode: 'tape', onMiss: 'nearest' } }
    const tape = new Tape([entry(1, 'w', { id: 1 }, { effect: 'write' }), entry(2, 'u', { id: 1 }, { effect: 'unknown' })], { tools })
    expect(tape.tool({ name: 'w', arguments: { id: 2 } })).toMatchObject({ kind: 'miss', policy: 'error' })
    expect(tape.tool({ name: 'u', arguments: { id: 2 } })).toMatchObject({ kind: 'miss', policy: 'error' })
  })

  test('counts a read that was recorded before a write and served after it as stale', () => {
    const tape = new Tape([entry(1, 'get', {}), entry(2, 'set', {}, { effect: 'write' }), entry(3, 'get', {})], {
      tools: { get: onTape, set: onTape },
    })
    tape.tool({ name: 'set', arguments: {} })
    tape.tool({ name: 'get', arguments: {} })
    tape.tool({ name: 'get', arguments: {} })
    expect(tape.report()).toEqual({
      offTape: { count: 0 },
      unconsumed: [],
      unconsumedWrites: [],
      staleReads: 1,
      live: [],
      hits: 3,
      outOfOrder: 1,
    })
  })

  test('runs a tool with side effects live only where both the environment and the caller name it', () => {
    const tools: Record<string, ToolSettings> = {
      refund: { mode: 'live', onMiss: 'error', effect: 'write' },
      look: { mode: 'live', onMiss: 'error', effect: 'read' },
    }
    const careful = new Tape([], { tools })
    expect(careful.tool({ name: 'refund', arguments: {} })).toMatchObject({ kind: 'miss', policy: 'fail' })
    expect(careful.tool({ name: 'look', arguments: {} })).toEqual({ kind: 'live' })
    const allowed = new Tape([], { tools, allowLive: ['refund'] })
    expect(allowed.tool({ name: 'refund', arguments: {} })).toEqual({ kind: 'live' })
    expect(allowed.report().live).toEqual(['refund'])
  })

  test('keeps io reads apart from tools of the same name', () => {
    const tape = new Tape([entry(1, 'profile', { user: 1 }, { kind: 'io' })], { tools: {} })
    expect(tape.tool({ name: 'profile', arguments: { user: 1 } })).toMatchObject({ kind: 'model-error', type: 'unknown-tool' })
    expect(tape.io({ name: 'profile', arguments: { user: 1 } })).toMatchObject({ kind: 'hit', entry: { seq: 1 } })
  })
})
