import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import { describe, expect, it, onTestFinished } from 'vitest'

const given: [what: string, session: unknown, recorded: Record<string, unknown>, told: string[]][] = [
  ['texts', { id: 's', user: 'u', tags: { plan: 'pro' } }, { 'session.id': 's', 'user.id': 'u', 'homeground.tag.plan': 'pro' }, []],
  [
    'numbers, as rows of a database have them',
    { id: 17, user: 99n, tags: { age: 30, trial: false } },
    { 'session.id': '17', 'user.id': '99', 'homeground.tag.age': '30', 'homeground.tag.trial': 'false' },
    [],
  ],
  ['nothing', undefined, {}, []],
  ['null', null, {}, []],
  ['members that are not there', { id: undefined, user: null, tags: null }, {}, []],
  ['an id that is an object', { id: { uuid: 's' }, user: 'u' }, { 'user.id': 'u' }, ['a session’s `id` is of type object, not a text']],
  ['a tag that is a list', { id: 's', tags: { roles: ['a'] } }, { 'session.id': 's' }, ['a session’s `tags.roles` is a list, not a text']],
  ['a function', { id: () => 's' }, {}, ['a session’s `id` is of type function, not a text']],
  ['the id alone', 's', {}, ['a session is of type string, not { id, user, tags }']],
  ['tags that would change prototypes', JSON.parse('{"tags":{"__proto__":"x"}}'), { 'homeground.tag.__proto__': 'x' }, []],
]

const isOfSession = ([name]: [string, unknown]) => name === 'session.id' || name === 'user.id' || name.startsWith('homeground.tag.')

/** What the agent's span says of its session, and what the process was told. */
async function recorded(run: (hg: ReturnType<typeof homeground>) => unknown) {
  const told: string[] = []
  const listen = ({ message }: Error) =>
    void (message.startsWith('homeground: a session') && told.push(message.slice(12, -' it is left out'.length - 1)))
  process.on('warning', listen)
  onTestFinished(() => void process.off('warning', listen))
  const exporter = new MemoryExporter()
  const hg = homeground({ project: 'test', exporter })
  expect(await run(hg)).toBe('done')
  await hg.shutdown()
  await new Promise(setImmediate)
  expect(exporter.spans).toHaveLength(1)
  expect(hg.stats()).toMatchObject({ internalErrors: 0, openSpans: 0 })
  return { recorded: Object.fromEntries(Object.entries(exporter.spans[0]?.attributes ?? {}).filter(isOfSession)), told }
}

describe('a session', () => {
  it.each(given)('of hg.session with %s', async (_, session, expected, told) => {
    const run = (hg: ReturnType<typeof homeground>) => Reflect.apply(hg.session, undefined, [session, hg.agent('a', async () => 'done')])
    expect(await recorded(run)).toEqual({ recorded: expected, told })
  })

  it.each(given)('of an agent with %s', async (_, session, expected, told) => {
    const run = (hg: ReturnType<typeof homeground>) => hg.agent('a', async () => 'done', { session: () => session as never })()
    expect(await recorded(run)).toEqual({ recorded: expected, told })
  })
})
