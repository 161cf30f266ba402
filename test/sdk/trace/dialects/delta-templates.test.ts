import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assembleOpenAiChat } from '../../../../sdk/trace/dialects/openai-chat-stream.ts'
import { readServerSentEvents } from '../../../../sdk/trace/dialects/server-sent-events.ts'

/** What the stream's events give, read one by one, and as many at once as go. */
function bothWays(stream: string) {
  const single = assembleOpenAiChat()
  readServerSentEvents(stream, (data) => single.add(data))
  const runs = assembleOpenAiChat()
  let looked = 0
  readServerSentEvents(
    stream,
    (data) => {
      looked += 1
      runs.add(data)
    },
    runs.addRun,
  )
  return { single: { body: single.body(), complete: single.complete }, runs: { body: runs.body(), complete: runs.complete }, looked }
}

const event = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`

describe('events of a kind that follow each other', () => {
  it('are taken at once, whatever pads them', () => {
    const words = Array.from({ length: 300 }, (_, n) => event({ content: `w${n} "q" \\ \n` }, { obfuscation: 'aZ09'.repeat(n % 3) }))
    const { single, runs, looked } = bothWays(`${event({ role: 'assistant', content: '' })}${words.join('')}data: [DONE]\n\n`)
    expect(runs).toEqual(single)
    expect(looked).toBeLessThan(10)
  })

  it('give the same body as one by one: kinds that alternate, line ends of all sorts, events cut off or broken in the middle', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom('', 'word ', '\\', '"', '\n\ndata: ', '\ud83d', '\ude00'),
    )
    const delta = fc.oneof(
      { weight: 6, arbitrary: text.map((content) => event({ content })) },
      { weight: 2, arbitrary: fc.tuple(text, fc.nat(9)).map(([content, n]) => event({ content }, { obfuscation: 'x'.repeat(n) })) },
      { weight: 3, arbitrary: text.map((part) => event({ tool_calls: [{ index: 0, function: { arguments: part } }] })) },
      { weight: 1, arbitrary: text.map((content) => event({ content }, { created: content.length })) },
      { weight: 1, arbitrary: text.map((content) => event({ content }).replace('\n\n', '\r\n\r\n')) },
      { weight: 1, arbitrary: fc.tuple(text, fc.nat(200)).map(([content, cut]) => `${event({ content }).slice(0, cut)}\n\n`) },
      { weight: 1, arbitrary: text.map((content) => event({ content }).replace(/","/, '"\n,"')) },
      { weight: 1, arbitrary: fc.constantFrom(': a comment\n\n', 'event: delta\n', 'data: [DONE]\n\n', 'data:\n\n', '\n') },
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(delta, fc.integer({ min: 1, max: 4 })), { maxLength: 30 }), fc.nat(40), (events, cut) => {
        const stream = events.map(([one, times]) => one.repeat(times)).join('')
        const { single, runs } = bothWays(cut < 20 ? stream : stream.slice(0, stream.length - cut))
        expect(runs).toEqual(single)
      }),
      { numRuns: 2000 },
    )
  })
})
