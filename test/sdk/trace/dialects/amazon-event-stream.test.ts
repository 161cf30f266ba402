import { describe, expect, it } from 'vitest'
import { readAmazonEvents } from '../../../../sdk/trace/dialects/amazon-event-stream.ts'

function frame(headers: Record<string, string>, payload: object): Buffer {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(value.length)
      return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(value)])
    }),
  )
  const body = Buffer.from(JSON.stringify(payload))
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(16 + head.byteLength + body.byteLength, 0)
  prelude.writeUInt32BE(head.byteLength, 4)
  return Buffer.concat([prelude, head, body, Buffer.alloc(4)])
}

const chunk = (event: object) =>
  frame({ ':event-type': 'chunk', ':message-type': 'event' }, { bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abc' })

function eventsOf(bytes: Buffer) {
  const seen: unknown[] = []
  readAmazonEvents(bytes, (data, name) => seen.push([JSON.parse(data), name]))
  return seen
}

describe('AWS’s event stream', () => {
  it('gives the vendor’s events, in order, and an exception as an error event', () => {
    const exception = frame({ ':exception-type': 'throttlingException', ':message-type': 'exception' }, { message: 'Too many tokens' })
    expect(eventsOf(Buffer.concat([chunk({ type: 'ping' }), chunk({ type: 'message_stop', text: 'grüße' }), exception]))).toEqual([
      [{ type: 'ping' }, undefined],
      [{ type: 'message_stop', text: 'grüße' }, undefined],
      [{ type: 'error', error: { type: 'throttlingException', message: 'Too many tokens' } }, 'error'],
    ])
  })

  it('ends where it was cut off, and finds nothing in other bytes', () => {
    const two = Buffer.concat([chunk({ n: 1 }), chunk({ n: 2 })])
    for (let cut = 1; cut < two.byteLength / 2; cut += 7)
      expect(eventsOf(two.subarray(0, two.byteLength - cut))).toEqual([[{ n: 1 }, undefined]])
    expect(eventsOf(Buffer.from('data: {"an": "event stream of the other kind"}\n\n'.repeat(20)))).toEqual([])
    expect(eventsOf(Buffer.alloc(100))).toEqual([])
  })
})
