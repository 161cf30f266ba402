// A response that is recorded behaves as one that is not, whatever the product forgets, and whoever else stands before Response's own members.
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { unhandledRejections } from '../../support/unhandled-rejections.ts'
import { recorded } from '../recorded.ts'

const answer = '{"id":"a","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}'

/** A client whose endpoint gives what `make` gives. */
function endpoint(make: () => Response) {
  const { hg, exporter } = recorded()
  const client = hg.wrap({ fetch: async (_url: string, _init: RequestInit) => make() })
  const call = () => client.fetch('http://model.test/v1/chat/completions', { method: 'POST', body: '{"model":"m"}' })
  const told = async () => {
    await hg.flush()
    return exporter.spans.map(({ attributes: a }) => ({
      body: a['homeground.response.body'],
      error: a['error.type'],
      partial: a['homeground.partial'] ?? false,
    }))
  }
  return { call, told }
}

const streamed = (fail?: Error) => {
  const parts = [answer.slice(0, 20), answer.slice(20)]
  const pull = (controller: ReadableByteStreamController): void => {
    const part = parts.shift()
    if (part !== undefined) controller.enqueue(new TextEncoder().encode(part))
    else if (fail !== undefined) controller.error(fail)
    else {
      controller.close()
      controller.byobRequest?.respond(0)
    }
  }
  return new Response(new ReadableStream({ type: 'bytes', pull }), { headers: { 'content-type': 'application/json' } })
}

const bodyOf = ({ body }: Response): ReadableStream<Uint8Array> => {
  if (body === null) throw new Error('no body')
  return body
}

const whole = { body: answer, error: undefined, partial: false }

describe('an error that the product forgets is told to the process', () => {
  const failure = new TypeError('terminated')
  it('where there is no response', async () => {
    const { call, told } = endpoint(() => {
      throw failure
    })
    expect(await unhandledRejections(() => void call())).toEqual([failure])
    expect(await told()).toEqual([{ body: undefined, error: 'TypeError', partial: false }])
  })

  const readings: Record<string, (response: Response) => unknown> = {
    'text()': (response) => response.text(),
    'json()': (response) => response.json(),
    'arrayBuffer()': (response) => response.arrayBuffer(),
    'blob()': (response) => response.blob(),
    'reads of a reader': (response) => {
      const reader = bodyOf(response).getReader()
      return [reader.read(), reader.read(), reader.read()]
    },
    'steps of an iterator': (response) => {
      const iterator = bodyOf(response)[Symbol.asyncIterator]()
      return [iterator.next(), iterator.next(), iterator.next()]
    },
  }
  it.each(Object.entries(readings))('where the body breaks off: %s', async (_, read) => {
    const { call, told } = endpoint(() => streamed(failure))
    const response = await call()
    const seen = await unhandledRejections(() => void read(response))
    expect(seen).toEqual(await unhandledRejections(() => void read(streamed(failure))))
    expect(seen).toEqual([failure])
    expect(await told()).toMatchObject([{ error: 'TypeError' }])
  })
})

describe('a body is recorded whole', () => {
  const rest = async (body: ReadableStream<Uint8Array>): Promise<string> => {
    const chunks: Uint8Array[] = []
    for await (const chunk of body) chunks.push(chunk)
    return decode(chunks)
  }
  const decode = (chunks: readonly ArrayBufferView[]): string =>
    Buffer.concat(chunks.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength))).toString()

  it('where a reader is let go of while it waits, and another one reads it', async () => {
    let send = (): void => undefined
    const start = (controller: ReadableByteStreamController): void => {
      send = () => {
        controller.enqueue(new TextEncoder().encode(answer))
        controller.close()
      }
    }
    const { call, told } = endpoint(() => new Response(new ReadableStream({ type: 'bytes', start })))
    const body = bodyOf(await call())
    const first = body.getReader()
    const waiting = first.read()
    first.releaseLock()
    for (const read of [waiting, first.read()]) await expect(read).rejects.toThrow(TypeError)
    send()
    expect(await rest(body)).toBe(answer)
    expect(await told()).toEqual([whole])
  })

  it('where an iterator that keeps the stream leaves it to another reader', async () => {
    const { call, told } = endpoint(() => streamed())
    const body = bodyOf(await call())
    for await (const chunk of body.values({ preventCancel: true })) {
      expect(decode([chunk])).toBe(answer.slice(0, 20))
      break
    }
    expect(await rest(body)).toBe(answer.slice(20))
    expect(await told()).toEqual([whole])
  })

  it('where it is read into views of the product’s that are no Uint8Array', async () => {
    const { call, told } = endpoint(() => streamed())
    const reader = bodyOf(await call()).getReader({ mode: 'byob' })
    const chunks: ArrayBufferView[] = []
    for (;;) {
      const { done, value } = await reader.read(new DataView(new ArrayBuffer(16)))
      if (done) break
      chunks.push(value)
    }
    expect(decode(chunks)).toBe(answer)
    expect(await told()).toEqual([whole])
  })

  it('where it went through a clone, read to its end', async () => {
    const { call, told } = endpoint(() => streamed())
    const response = await call()
    expect(await rest(bodyOf(response.clone()))).toBe(answer)
    expect(await told()).toEqual([whole])
  })
})

describe('promises of another realm, as a test runner’s', () => {
  const Foreign: PromiseConstructor = runInNewContext('Promise')

  it('are waited for as the process’s own', async () => {
    const { hg, exporter } = recorded()
    const fetch = (_url: string, _init: RequestInit) => Foreign.resolve(new Response(answer))
    await (await hg.wrap({ fetch }).fetch('http://model.test/v1/chat/completions', { method: 'POST', body: '{"model":"m"}' })).text()
    await hg.flush()
    expect(exporter.spans[0]?.attributes['homeground.response.body']).toBe(answer)
  })

  it('give a body as the process’s own', async () => {
    const { call, told } = endpoint(() => new Response(answer))
    const { text } = Response.prototype
    const spy = vi.spyOn(Response.prototype, 'text').mockImplementation(function (this: Response) {
      return Foreign.resolve(text.call(this))
    })
    onTestFinished(() => spy.mockRestore())
    expect(await (await call()).text()).toBe(answer)
    expect(await told()).toEqual([whole])
  })
})

describe('Response’s own members', () => {
  it.each(['json', 'text', 'arrayBuffer', 'blob', 'clone'] as const)('%s: who stands before it later is asked too', async (method) => {
    const { call, told } = endpoint(() => new Response(answer))
    await (await call()).text()
    const spy = vi.spyOn(Response.prototype, method)
    onTestFinished(() => spy.mockRestore())
    const response = await call()
    await response[method]()
    if (method === 'clone') await response.text()
    expect(spy).toHaveBeenCalledTimes(1)
    expect(await told()).toMatchObject([whole, { error: undefined, partial: false }])
  })

  it('are those that it has unrecorded, for who lists them', async () => {
    const { call } = endpoint(() => new Response(answer))
    const listed = (response: Response) => {
      const names: string[] = []
      for (const name in response) names.push(name)
      return { own: Object.keys(response), names: names.toSorted() }
    }
    expect(listed(await call())).toEqual(listed(new Response(answer)))
  })
})
