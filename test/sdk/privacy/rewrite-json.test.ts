import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rewriteJson } from '../../../sdk/privacy/rewrite-json.ts'

const same = { text: (text: string) => text }
const shout = { text: (text: string) => text.replaceAll('secret', 'WORD') }

describe('rewriteJson', () => {
  it('leaves every byte of what it does not change', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(0, 1, 2), (text, indent) => {
        const written = JSON.stringify(JSON.parse(text), undefined, indent)
        expect(rewriteJson(written, '', true, same)).toBe(written)
        expect(rewriteJson(written, '', true, { ...same, value: (value) => value })).toBe(written)
      }),
    )
    const odd = '{ "id" : 12345678901234567890, "a":1.0, "a":-0,\n"e":1E2, "u":"\\u0061\\/", "n":[ ] , "o":{ }}'
    expect(rewriteJson(odd, '', true, same)).toBe(odd)
    expect(rewriteJson(odd, '', true, { ...same, value: (value) => value })).toBe(odd)
  })

  it('changes texts, keys, and texts inside of JSON that is a text, and nothing else', () => {
    const sent =
      '{"big":12345678901234567890,"secret":1,"list":["a secret",{"arguments":"{\\"x\\": \\"secret\\", \\"n\\":1.0}"}],"u":"\\u0073ecret"}'
    expect(rewriteJson(sent, '', true, shout)).toBe(
      '{"big":12345678901234567890,"WORD":1,"list":["a WORD",{"arguments":"{\\"x\\": \\"WORD\\", \\"n\\":1.0}"}],"u":"WORD"}',
    )
  })

  it('says the path of every value, also inside of text', () => {
    const seen: string[] = []
    const visitor = {
      ...same,
      value: <T>(value: T, path: string): T => {
        seen.push(path)
        return value
      },
    }
    rewriteJson('{"a":[1,{"b":"{\\"c\\":[null]}"}]}', 'tool', true, visitor)
    expect(seen).toEqual(['tool', 'tool.a', 'tool.a.0', 'tool.a.1', 'tool.a.1.b', 'tool.a.1.b', 'tool.a.1.b.c', 'tool.a.1.b.c.0'])
  })

  it('puts another value in a value’s place, and changes the texts in that too', () => {
    const visitor = { ...shout, value: (value: unknown, path: string) => (path === 'a.b' ? { is: 'secret' } : value) as never }
    expect(rewriteJson('{"a":{"b":[1,2],"c":"secret"},"d":0}', '', true, visitor)).toBe('{"a":{"b":{"is":"WORD"},"c":"WORD"},"d":0}')
  })

  it('takes text that is no JSON, or shall not be, as one value', () => {
    expect(rewriteJson('no JSON, a secret "', '', true, shout)).toBe('no JSON, a WORD "')
    expect(rewriteJson('"secret"', '', false, shout)).toBe('"WORD"')
    expect(rewriteJson('', '', true, shout)).toBe('')
  })
})
