// What an agent gives may be a stream, and what nobody reads of it is not played: here it is read to its end, as the product's caller does.
import { gather } from '@homeground/sdk/seam'

/** What a generator, a stream or a response comes to; anything else as it is. Rejects as the stream does. */
export async function readAnswer(answer: unknown): Promise<unknown> {
  const stream = answer instanceof Response ? answer.body : answer
  return await gather(isUnread(stream) ? textOf(stream) : answer)
}

function isUnread(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && !('locked' in value && value.locked === true)
}

async function* textOf(stream: AsyncIterable<unknown>): AsyncGenerator<unknown, unknown> {
  const decoder = new TextDecoder()
  const iterator = stream[Symbol.asyncIterator]()
  for (;;) {
    const { done, value } = await iterator.next()
    if (done === true) return value
    yield value instanceof Uint8Array ? decoder.decode(value, { stream: true }) : value
  }
}
