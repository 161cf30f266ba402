// Every reader of the store, asked for one project while another has rows of the same trace, session, user and names.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Store } from '../../store/index.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { spanRow, traceId } from '../support/span-rows.ts'
import { alike, bankTrace, insertTwoProjects, secret, sharedTrace } from '../support/two-projects.ts'

type Writing = 'migrate' | 'insertSpans' | 'insertFeedback' | 'setRetention' | 'registerEnvironment' | 'setPrices' | 'ping' | 'close'
/** Said of the whole store, to its operator: names and rules, no rows. */
type OfAll = 'projects' | 'retentions'
type Reader = Exclude<keyof Store, Writing | OfAll>

/** A reader that is added to the store must be added here: the type says so. */
const asks: { [Name in Reader]: { [what: string]: (store: Store) => Promise<unknown> } } = {
  episodes: Object.fromEntries(
    [
      {},
      ...Object.entries(alike).map(([name, value]) => ({ [name]: value })),
      { tags: { plan: 'pro' } },
      { feedback: { name: 'thumb' } },
      { feedback: { name: 'thumb', value: true } },
      { from: '2025-12-01T00:00:00Z', to: '2025-12-03T00:00:00Z' },
      { limit: 1 },
    ].map((query) => [JSON.stringify(query), (store: Store) => all(store.episodes({ project: 'shop', ...query }))]),
  ),
  traces: Object.fromEntries(
    [
      {},
      ...Object.entries(alike).map(([name, value]) => ({ [name]: value })),
      { tags: { plan: 'pro' } },
      { feedback: { name: 'thumb' } },
    ].map((query) => [JSON.stringify(query), (store: Store) => store.traces({ project: 'shop', ...query })]),
  ),
  episode: {
    'of a trace of both': (store) => store.episode('shop', sharedTrace),
  },
  tracesBeginning: { 'what both begin with': (store) => store.tracesBeginning(sharedTrace.slice(0, 31), 'shop') },
  spans: { 'of both traces': (store) => store.spans('shop', [sharedTrace, bankTrace]) },
  feedback: { 'of both traces': (store) => store.feedback('shop', [sharedTrace, bankTrace]) },
  counts: { 'of one project': (store) => store.counts('shop') },
  erasable: {
    user: (store) => store.erasable({ project: 'shop', user: alike.user }),
    session: (store) => store.erasable({ project: 'shop', session: alike.session }),
    trace: (store) => store.erasable({ project: 'shop', trace: sharedTrace }),
  },
  // Last: it takes away what the others read.
  erase: { user: (store) => store.erase({ project: 'shop', user: alike.user }) },
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

describe.skipIf(engineIsMissing)('a project', { timeout: 120_000 }, () => {
  const engine = useEngine()
  let store: Store
  beforeAll(async () => {
    if (engineIsMissing) return
    store = await engine.openStore()
    await insertTwoProjects(store)
  })

  const cases = Object.entries(asks).flatMap(([reader, questions]) =>
    Object.entries(questions).map(([what, ask]): [string, string, (store: Store) => Promise<unknown>] => [reader, what, ask]),
  )
  test.each(cases)('is answered by %s (%s) with its own rows, and none of another', async (_reader, _what, ask) => {
    const answer = JSON.stringify(await ask(store), (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
    // It did find something: an empty answer would hold no secret either.
    expect(answer.length).toBeGreaterThan('[]'.length)
    expect(answer).not.toContain(secret)
    expect(answer).not.toContain(bankTrace)
    expect(answer).not.toContain('bank')
  })

  test('gets nothing of a trace that another alone has, by whichever name it is asked for', async () => {
    const [episode] = await store.episode('bank', bankTrace)
    expect(episode?.trace).toBe(bankTrace)
    expect(await store.episode('shop', bankTrace)).toEqual([])
    expect(await store.episode('shop', episode?.id ?? '')).toEqual([])
    expect(await store.tracesBeginning(bankTrace, 'shop')).toEqual([])
    expect(await store.erase({ project: 'shop', trace: bankTrace })).toEqual({ traces: [], spans: 0, feedback: 0, environments: [] })
    expect(await store.erase({ project: '', user: alike.user })).toEqual({ traces: [], spans: 0, feedback: 0, environments: [] })
  })

  test('loses nothing by what another erases or keeps for a day only', async () => {
    const before = await all(store.episodes({ project: 'bank' }))
    expect(before.length).toBe(2)
    expect(await store.counts('shop')).toEqual([])
    await store.insertSpans([spanRow({ project: 'shop', traceId: traceId(7) })])
    await store.setRetention('shop', 1)
    await expect.poll(() => store.counts('shop'), { timeout: 30_000 }).toEqual([])
    expect(await all(store.episodes({ project: 'bank' }))).toEqual(before)
  })
})
