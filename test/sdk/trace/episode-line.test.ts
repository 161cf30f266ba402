import { formatEpisodeLine, parseEpisode, parseEpisodeLine } from '@homeground/sdk/trace'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyEpisode, episode, modelCall, text } from './episode-fixtures.ts'

const first = '0000000000000001'
const second = '0000000000000002'

describe('an episode line', () => {
  test('reads back as the episode that was written, whatever its calls share', () => {
    fc.assert(
      fc.property(anyEpisode, (given) => {
        expect(parseEpisodeLine(formatEpisodeLine(given), 'here')).toEqual(given)
      }),
      { numRuns: 300 },
    )
  })

  test('holds a later call as the difference to an earlier one, and readers share the messages', () => {
    const question = text('user', 'Lane 3?')
    const answer = text('assistant', 'Booked.')
    const given = episode([
      modelCall(first, [question], [answer]),
      modelCall(second, [question, answer, text('user', 'Thanks')], [text('assistant', 'Bye')]),
    ])
    const line = formatEpisodeLine(given)
    expect(JSON.parse(line).steps[1].request).toEqual({
      prefix: { step: first, count: 2 },
      messages: [text('user', 'Thanks')],
      tools: [],
      parameters: {},
    })
    const [one, two] = parseEpisodeLine(line, 'here').steps
    if (one?.kind !== 'model' || two?.kind !== 'model') throw new Error('expected two model calls')
    expect(two.request.messages[0]).toBe(one.request.messages[0])
    expect(two.request.messages[1]).toBe(one.response?.outputs[0])
  })

  test('finds the call that one goes on from among many that begin alike, in other objects too', () => {
    const id = (n: number) => n.toString(16).padStart(16, '0')
    const asked = (n: number) => [text('system', 'You sort.'), text('user', `Row ${n}?`)]
    const calls = Array.from({ length: 30 }, (_, n) => modelCall(id(n + 1), asked(n), [text('assistant', `Row ${n}.`)]))
    const next = modelCall(id(99), [...asked(17), text('assistant', 'Row 17.'), text('user', 'Sure?')], [])
    const given = episode([...calls, next, modelCall(id(100), calls[17]?.request.messages ?? [], [])])
    const { steps } = JSON.parse(formatEpisodeLine(given))
    expect(steps.slice(-2).map((step: { request: { prefix: unknown } }) => step.request.prefix)).toEqual([
      { step: id(18), count: 3 },
      { step: id(18), count: 2 },
    ])
  })

  test('names the call that sent the same tools, and readers share them', () => {
    const tools = [{ type: 'function', name: 'look', parameters: { type: 'object' } }]
    const call = (id: string, sent: { type: string; name: string }[]) => {
      const made = modelCall(id, [text('user', id)], [])
      return { ...made, request: { ...made.request, tools: sent } }
    }
    const other = [{ type: 'function', name: 'ask' }]
    // An id that stands twice names the first: the second call's own list must not be looked for under it.
    const given = episode([call(first, tools), call(second, structuredClone(tools)), call(second, other), call('0000000000000003', other)])
    const line = formatEpisodeLine(given)
    expect(JSON.parse(line).steps.map((step: { request: { tools: unknown } }) => step.request.tools)).toEqual([tools, first, other, other])
    const read = parseEpisodeLine(line, 'here')
    expect(read).toEqual(given)
    const [one, two] = read.steps
    if (one?.kind !== 'model' || two?.kind !== 'model') throw new Error('expected two model calls')
    expect(two.request.tools).toBe(one.request.tools)
    const broken = line.replace(`"tools":"${first}"`, '"tools":"00000000000000ff"')
    expect(() => parseEpisodeLine(broken, 'episodes.jsonl:7')).toThrow(
      expect.objectContaining({
        code: 'invalid-input',
        message: `episodes.jsonl:7: step ${second}: request.tools cannot be expanded: there is no earlier model call 00000000000000ff`,
      }),
    )
  })

  test('grows with what is new: 60 calls over one growing history take less than three times the text of the last call', () => {
    const messages = [text('system', 'x'.repeat(2000))]
    const steps = Array.from({ length: 60 }, (_, index) => {
      const answer = text('assistant', `answer ${index} ${'y'.repeat(200)}`)
      const call = modelCall((index + 1).toString(16).padStart(16, '0'), [...messages], [answer])
      messages.push(answer, text('user', `question ${index}`))
      return call
    })
    expect(formatEpisodeLine(episode(steps)).length).toBeLessThan(3 * JSON.stringify(steps.at(-1)).length)
  })

  test('goes on with the chosen output, not the first', () => {
    const other = text('assistant', 'B')
    const given = episode([
      modelCall(first, [text('user', 'q')], [text('assistant', 'A'), other], { chosen: 1 }),
      modelCall(second, [text('user', 'q'), other], []),
    ])
    expect(JSON.parse(formatEpisodeLine(given)).steps[1].request.prefix).toEqual({ step: first, count: 2 })
  })

  test.each([
    ['a step that is not there', { step: second, count: 1 }, `there is no earlier model call ${second}`],
    ['more messages than there are', { step: first, count: 3 }, `step ${first} has 2 messages, not 3`],
  ])('with a prefix of %s is refused with the place', (_, prefix, fault) => {
    const line = JSON.parse(
      formatEpisodeLine(episode([modelCall(first, [text('user', 'q')], [text('assistant', 'a')]), modelCall('00000000000000ff', [], [])])),
    )
    line.steps[1].request.prefix = prefix
    expect(() => parseEpisodeLine(JSON.stringify(line), 'episodes.jsonl:7')).toThrow(
      expect.objectContaining({
        code: 'invalid-input',
        message: expect.stringMatching(`episodes.jsonl:7: step 00000000000000ff.*${fault}`),
      }),
    )
  })

  test('that is cut short is refused with the place', () => {
    const line = formatEpisodeLine(episode([]))
    expect(() => parseEpisodeLine(line.slice(0, -3), 'episodes.jsonl:2')).toThrow(/^episodes\.jsonl:2: not JSON/)
  })
})

describe('parseEpisode', () => {
  test('keeps parts and fields that it does not know', () => {
    const given = episode([
      modelCall(
        first,
        [
          {
            role: 'user',
            parts: [{ type: 'hologram', data: [1, { deep: null }] } as never, { type: 'text', content: 'hi', mood: 'good' } as never],
          },
        ],
        [],
      ),
    ])
    expect(parseEpisode(structuredClone(given), 'here')).toEqual(given)
  })

  test.each([
    ['a wrong version', { format: 2 }, 'format: expected 1'],
    ['an id that is not hex', { id: 'nope' }, 'id: expected 32 lower-case hex digits'],
    ['a field that no episode has', { colour: 'red' }, 'Unrecognized key: "colour"'],
    [
      'a text part without content',
      { steps: [modelCall(first, [{ role: 'user', parts: [{ type: 'text' } as never] }], [])] },
      'steps.0.request.messages.0.parts.0.content',
    ],
    [
      'a part without a type',
      { steps: [modelCall(first, [{ role: 'user', parts: [{} as never] }], [])] },
      'steps.0.request.messages.0.parts.0.type',
    ],
    ['a result that JSON cannot say', { output: { at: new Date(0) } as never }, 'output: expected a JSON value'],
    ['a time without a zone', { startedAt: '2026-01-31 12:00' }, 'startedAt: expected ISO 8601'],
  ])('refuses %s and names the field', (_, change, fault) => {
    expect(() => parseEpisode(episode([], change as never), 'body')).toThrow(
      expect.objectContaining({ code: 'invalid-input', message: expect.stringContaining(fault) }),
    )
  })
})
