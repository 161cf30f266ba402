import { expect, test } from 'vitest'
import { GroupCommit } from '../../../collector/queue/group-commit.ts'

/** A commit whose calls the test lets go one by one. */
function heldCommits() {
  const calls: { rows: readonly number[]; finish(): void; fail(error: Error): void }[] = []
  const commit = (rows: readonly number[]) =>
    new Promise<void>((resolve, reject) => {
      calls.push({ rows, finish: resolve, fail: reject })
    })
  return { calls, commit }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a lone request is committed at once', () => {
  const { calls, commit } = heldCommits()
  const group = new GroupCommit<number>({ commit })
  void group.add([1, 2], 10)
  expect(calls.map(({ rows }) => rows)).toEqual([[1, 2]])
})

test('what arrives while commits run goes together into the next one', async () => {
  const { calls, commit } = heldCommits()
  const group = new GroupCommit<number>({ commit, concurrency: 1, spacingMs: 0 })
  const first = group.add([1], 1)
  const rest = [2, 3, 4].map((n) => group.add([n], 1))
  expect(calls.length).toBe(1)
  calls[0]?.finish()
  await first
  await settled()
  expect(calls.map(({ rows }) => rows)).toEqual([[1], [2, 3, 4]])
  calls[1]?.finish()
  await Promise.all(rest)
})

test('a failed commit fails its own requests and no others', async () => {
  const { calls, commit } = heldCommits()
  const group = new GroupCommit<number>({ commit, concurrency: 1, spacingMs: 0 })
  const first = group.add([1], 1)
  const second = group.add([2], 1)
  calls[0]?.fail(new Error('no'))
  await expect(first).rejects.toThrow('no')
  await settled()
  calls[1]?.finish()
  await expect(second).resolves.toBeUndefined()
})

test('a group never holds more rows or bytes than its limits, unless one request alone does', async () => {
  const { calls, commit } = heldCommits()
  const group = new GroupCommit<number>({ commit, concurrency: 1, spacingMs: 0, maxRows: 3, maxBytes: 100 })
  const all = [group.add([0], 1), group.add([1, 2], 10), group.add([3, 4], 10), group.add([5], 95), group.add([6, 7, 8, 9], 500)]
  for (let at = 0; at < 5; at++) {
    await settled()
    calls[at]?.finish()
  }
  await Promise.all(all)
  expect(calls.map(({ rows }) => rows)).toEqual([[0], [1, 2], [3, 4], [5], [6, 7, 8, 9]])
})

test('small groups begin no oftener than the spacing, a large one at once and beside another', async () => {
  let now = 0
  const { calls, commit } = heldCommits()
  const group = new GroupCommit<number>({ commit, concurrency: 3, spacingMs: 40, largeRows: 2, now: () => now })
  void group.add([1], 1)
  now = 10
  void group.add([2], 1)
  expect(calls.length).toBe(1)
  void group.add([3], 1)
  expect(calls.map(({ rows }) => rows)).toEqual([[1], [2, 3]])
  void group.add([4], 1)
  now = 60
  await new Promise((resolve) => setTimeout(resolve, 60))
  // Two still run: a small one waits for them.
  expect(calls.map(({ rows }) => rows)).toEqual([[1], [2, 3]])
  calls[0]?.finish()
  calls[1]?.finish()
  await settled()
  now = 120
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(calls.map(({ rows }) => rows)).toEqual([[1], [2, 3], [4]])
})

test('the more rows a group has, the sooner it begins after the one before', async () => {
  const begun: { rows: number; at: number }[] = []
  const begin = performance.now()
  const commit = async (rows: readonly number[]) => void begun.push({ rows: rows.length, at: performance.now() - begin })
  const group = new GroupCommit<number>({ commit, spacingMs: 2_000, largeRows: 100 })
  await group.add([1], 1)
  await group.add(new Array<number>(50).fill(0), 1)
  await group.add(new Array<number>(40).fill(0), 1)
  expect(begun.map(({ rows }) => rows)).toEqual([1, 50, 40])
  // Half of a large one waits for nothing; four fifths of that for a fifth of the spacing.
  expect(begun[2]?.at).toBeGreaterThan(390)
  expect(begun[1]?.at).toBeLessThan(begun[2]?.at ?? 0)
  expect(begun[1]?.at).toBeLessThan(1_900)
})

test('those who were answered together come together again, not half and half', async () => {
  let now = 0
  const { calls, commit } = heldCommits()
  const group = new GroupCommit<number>({ commit, spacingMs: 40, now: () => now })
  const client = async (n: number) => {
    for (let turn = 0; turn < 3; turn++) {
      await group.add([n], 1)
      // What the client takes to send again.
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  const clients = [1, 2, 3, 4].map(client)
  for (let at = 0; at < 4; at++) {
    while (calls[at] === undefined) await new Promise((resolve) => setTimeout(resolve, 1))
    now += 100
    calls[at]?.finish()
    await new Promise((resolve) => setTimeout(resolve, 10))
    now += 40
  }
  await Promise.all(clients)
  // The first was alone; from then on all that wait are in one.
  expect(calls.map(({ rows }) => [...rows].sort())).toEqual([[1], [1, 2, 3, 4], [1, 2, 3, 4], [2, 3, 4]])
})

test('drained waits for what runs and what waits', async () => {
  const { calls, commit } = heldCommits()
  const group = new GroupCommit<number>({ commit, concurrency: 1, spacingMs: 0 })
  void group.add([1], 1)
  void group.add([2], 1)
  let isDrained = false
  const drained = group.drained().then(() => {
    isDrained = true
  })
  calls[0]?.finish()
  await settled()
  expect(isDrained).toBe(false)
  calls[1]?.finish()
  await drained
})
