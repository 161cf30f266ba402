// What hg.agent and hg.tool give stands in the place of the product's functions, for whoever looks at it.
import { describe, expect, it, vi } from 'vitest'
import { recorded } from '../recorded.ts'

describe.each<[string, (hg: ReturnType<typeof recorded>['hg'], fn: (...given: never[]) => unknown) => (...given: never[]) => unknown]>([
  ['an agent', (hg, fn) => hg.agent('a', fn)],
  ['a tool’s execute', (hg, fn) => hg.tool({ name: 't', parameters: {}, execute: fn as () => unknown }).execute],
])('%s', (_, record) => {
  it('has the name and the length of the product’s function, and what the product has put on it', () => {
    const { hg } = recorded()
    const lookUp = Object.assign((order: string, _locale: string) => order, { description: 'looks up', [Symbol.for('cost')]: 3 })
    expect(Object.getOwnPropertyDescriptors(record(hg, lookUp))).toMatchObject(Object.getOwnPropertyDescriptors(lookUp))
  })

  it('runs with the `this` that it is called with', async () => {
    const { hg, exporter } = recorded()
    class Desk {
      greeting = 'Hello'
      answer = record(hg, function (this: unknown, name: string) {
        return this instanceof Desk ? `${this.greeting}, ${name}` : 'nobody'
      } as (...given: never[]) => unknown)
    }
    expect(Reflect.apply(new Desk().answer, new Desk(), ['Ann'])).toBe('Hello, Ann')
    await hg.flush()
    expect(exporter.spans).toHaveLength(1)
  })

  it('made of a mock is one for who asks it', () => {
    const { hg } = recorded()
    const mock = vi.fn(() => 'done')
    expect(Reflect.apply(record(hg, mock), undefined, ['x'])).toBe('done')
    expect(record(hg, mock)).toHaveBeenCalledExactlyOnceWith('x')
  })
})
