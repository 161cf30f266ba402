import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { SpoolQueue } from '../../../sdk/export/spool-queue.ts'
import { parseSegment } from '../../../sdk/export/spool-segment.ts'
import { fill, smallDisk, unmount } from '../../support/small-disk.ts'
import { until } from '../../support/until.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true, force: true })
})
function freshFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-spool-'))
  folders.push(folder)
  return path.join(folder, 'spool')
}

/** The queue compiled for a process of its own: what is published has it inside the main entry. */
let compiled = ''
beforeAll(async () => {
  compiled = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-spool-code-')), 'spool-queue.mjs')
  const source = path.join(import.meta.dirname, '../../../sdk/export/spool-queue.ts')
  const bundle = await rolldown({ input: source, external: /^node:/, platform: 'node', tsconfig: false })
  await bundle.write({ file: compiled })
  await bundle.close()
})
afterAll(() => fs.rmSync(path.dirname(compiled), { recursive: true, force: true }))

const origin = { resource: { 'service.name': 'now' }, scope: { name: 's' } }
const texts = (pieces: readonly Buffer[] | undefined) => pieces?.map(String)

/** A process that spools `names` and is killed with -9 when it has said that they are written. */
async function killedProcess(folder: string, names: readonly string[], acknowledge = 0): Promise<void> {
  const source = pathToFileURL(compiled).href
  const program = `
    const { SpoolQueue } = await import(${JSON.stringify(source)})
    const queue = new SpoolQueue({ resource: { 'service.name': 'before' }, scope: { name: 's' } }, { folder: ${JSON.stringify(folder)} })
    for (const name of ${JSON.stringify(names)}) queue.add(Buffer.from(name))
    await queue.peek(1e9, 1e9)
    if (${acknowledge} > 0) await queue.done(${acknowledge})
    process.stdout.write('written')
    setInterval(() => undefined, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('exit', resolve))
}

describe('SpoolQueue', () => {
  it('gives back what was added, in order, until it is done with, and leaves no file', async () => {
    const folder = freshFolder()
    const queue = new SpoolQueue(origin, { folder })
    for (const name of ['a', 'b', 'c']) expect(queue.add(Buffer.from(name))).toBe(true)
    expect(texts((await queue.peek(100, 2))?.pieces)).toEqual(['a', 'b'])
    expect(texts((await queue.peek(100, 2))?.pieces)).toEqual(['a', 'b'])
    await queue.done(1)
    expect(queue).toMatchObject({ count: 2, bytes: 2 })
    const batch = await queue.peek(1, 100)
    expect([texts(batch?.pieces), batch?.origin]).toEqual([['b'], origin])
    await queue.done(1)
    queue.add(Buffer.from('d'))
    expect(texts((await queue.peek(100, 100))?.pieces)).toEqual(['c', 'd'])
    await queue.done(2)
    expect(await queue.peek(100, 100)).toBeUndefined()
    await queue.close()
    expect(fs.readdirSync(folder)).toEqual([])
  })

  it('is bounded', async () => {
    const queue = new SpoolQueue(origin, { folder: freshFolder(), maxBytes: 5 })
    expect([queue.add(Buffer.from('1234')), queue.add(Buffer.from('12')), queue.add(Buffer.from('1'))]).toEqual([true, false, true])
    await queue.peek(100, 100)
    await queue.done(2)
    expect(queue.add(Buffer.from('12345'))).toBe(true)
    await queue.close()
  })

  it('sends what a killed process has left, under that process’s resource, and exactly what was not acknowledged', async () => {
    const folder = freshFolder()
    await killedProcess(folder, ['a', 'b', 'c'], 1)
    const queue = new SpoolQueue(origin, { folder })
    queue.add(Buffer.from('new'))
    const first = await queue.peek(100, 100)
    expect([texts(first?.pieces), first?.origin.resource]).toEqual([['b', 'c'], { 'service.name': 'before' }])
    await queue.done(2)
    const second = await queue.peek(100, 100)
    expect([texts(second?.pieces), second?.origin.resource]).toEqual([['new'], { 'service.name': 'now' }])
    await queue.done(1)
    await queue.close()
    expect(fs.readdirSync(folder)).toEqual([])
  })

  it('leaves out a record that the kill cut off, and a file that is none', async () => {
    const folder = freshFolder()
    await killedProcess(folder, ['a', 'b'.repeat(100)])
    const [name = ''] = fs.readdirSync(folder)
    const file = path.join(folder, name)
    fs.truncateSync(file, fs.statSync(file).size - 10)
    fs.writeFileSync(path.join(folder, name.replace(/-\d+\.spool$/, '-99.spool')), 'no segment')
    const torn = fs.readFileSync(file)
    torn.fill(0, 20, 40)
    fs.writeFileSync(path.join(folder, name.replace(/-\d+\.spool$/, '-98.spool')), torn)
    const queue = new SpoolQueue(origin, { folder })
    expect(texts((await queue.peek(1000, 100))?.pieces)).toEqual(['a'])
    await queue.done(1)
    expect(await queue.peek(1000, 100)).toBeUndefined()
    await queue.close()
    expect(fs.readdirSync(folder)).toEqual([])
  })

  it('takes the zeros that a power cut leaves at the end of a file for nothing', async () => {
    const folder = freshFolder()
    await killedProcess(folder, ['a', 'b'])
    const [name = ''] = fs.readdirSync(folder)
    fs.appendFileSync(path.join(folder, name), Buffer.alloc(4096))
    expect(parseSegment(fs.readFileSync(path.join(folder, name)))?.records).toHaveLength(2)
    const queue = new SpoolQueue(origin, { folder })
    expect(texts((await queue.peek(1000, 100))?.pieces)).toEqual(['a', 'b'])
    expect(queue.count).toBe(2)
    await queue.done(2)
    expect(await queue.peek(1000, 100)).toBeUndefined()
    await queue.close()
    expect(fs.readdirSync(folder)).toEqual([])
  })

  it('passes over a file that it cannot open, and leaves it for who can', async () => {
    const folder = freshFolder()
    await killedProcess(folder, ['a'])
    const [name = ''] = fs.readdirSync(folder)
    const closed = name.replace(/-\d+\.spool$/, '-0.spool')
    fs.mkdirSync(path.join(folder, closed))
    const queue = new SpoolQueue(origin, { folder })
    expect(texts((await queue.peek(1000, 100))?.pieces)).toEqual(['a'])
    expect(queue.onDisk).toBe(true)
    await queue.done(1)
    await queue.close()
    expect(fs.readdirSync(folder)).toEqual([closed])
  })

  it('does not touch the file of a process that is alive; two that start at once do not both take a dead one’s', async () => {
    const folder = freshFolder()
    const alive = new SpoolQueue(origin, { folder })
    alive.add(Buffer.from('mine'))
    await alive.peek(100, 100)
    await killedProcess(folder, ['left'])
    const others = [new SpoolQueue(origin, { folder }), new SpoolQueue(origin, { folder })]
    const batches = await Promise.all(others.map((queue) => queue.peek(100, 100)))
    expect(batches.flatMap((batch) => texts(batch?.pieces) ?? [])).toEqual(['left'])
    for (const queue of [alive, ...others]) await queue.close()
  })

  it('keeps spans in memory where the folder cannot be used', async () => {
    const file = freshFolder()
    fs.writeFileSync(file, 'a file, no folder')
    const queue = new SpoolQueue(origin, { folder: path.join(file, 'spool'), maxBytes: 3 })
    queue.add(Buffer.from('a'))
    expect(texts((await queue.peek(100, 100))?.pieces)).toEqual(['a'])
    expect([queue.add(Buffer.from('bc')), queue.add(Buffer.from('d'))]).toEqual([true, false])
    await queue.done(1)
    expect(queue).toMatchObject({ count: 1, bytes: 2, onDisk: false })
    await queue.close()
  })

  it('whose disk is full while a batch is sent keeps the next spans in memory, and what is on the disk for the next one', async () => {
    const disk = smallDisk(1)
    if (disk === undefined) return
    onTestFinished(() => unmount(disk))
    const folder = path.join(disk, 'spool')
    const queue = new SpoolQueue(origin, { folder })
    queue.add(Buffer.from('on disk'))
    expect(texts((await queue.peek(100, 100))?.pieces)).toEqual(['on disk'])
    const filler = fill(disk)
    for (const name of ['a', 'b']) queue.add(Buffer.alloc(100_000, name))
    await until(
      () => !queue.onDisk,
      () => 'the disk still takes spans',
    )
    // The batch from before has arrived.
    await queue.done(1)
    expect(queue.count).toBe(2)
    expect((await queue.peek(1_000_000, 100))?.pieces.map((piece) => piece.toString('utf8', 0, 1))).toEqual(['a', 'b'])
    await queue.done(2)
    expect(await queue.close()).toBe(0)
    fs.rmSync(filler)
    const next = new SpoolQueue(origin, { folder })
    expect(texts((await next.peek(100, 100))?.pieces)).toEqual(['on disk'])
    await next.close()
  })

  it('says to everybody that the disk keeps nothing', async () => {
    const file = freshFolder()
    fs.writeFileSync(file, 'a file, no folder')
    const said: string[] = []
    const listen = ({ message }: Error) => (message.includes(file) ? said.push(message) : undefined)
    process.on('warning', listen)
    onTestFinished(() => void process.removeListener('warning', listen))
    const queue = new SpoolQueue(origin, { folder: path.join(file, 'spool') })
    await queue.peek(1, 1)
    await new Promise((resolve) => setImmediate(resolve))
    expect(said).toEqual([expect.stringMatching(/^homeground: the spool at .*spool cannot be used \(.*\); spans wait in memory/)])
    await queue.close()
  })

  it('whose folder somebody removes sends what it has, keeps new spans in a new file, and counts what is lost', async () => {
    const said: string[] = []
    const listen = ({ message }: Error) => void said.push(message)
    process.on('warning', listen)
    onTestFinished(() => void process.removeListener('warning', listen))
    const folder = freshFolder()
    const queue = new SpoolQueue(origin, { folder })
    const written = async (name: string) => {
      queue.add(Buffer.from(name))
      await queue.peek(100, 100)
    }
    for (const name of ['a', 'b', 'c']) await written(name)
    expect(queue.onDisk).toBe(true)
    fs.rmSync(folder, { recursive: true })
    expect(queue.onDisk).toBe(false)
    await written('d')
    expect(fs.readdirSync(folder)).toHaveLength(1)
    expect(texts((await queue.peek(100, 1))?.pieces)).toEqual(['a'])
    await queue.done(1)
    expect([queue.count, await queue.close(), queue.count, queue.bytes, queue.onDisk]).toEqual([3, 2, 1, 1, true])
    const next = new SpoolQueue(origin, { folder })
    expect(texts((await next.peek(100, 100))?.pieces)).toEqual(['d'])
    await next.close()
    expect(said.filter((message) => message.includes(folder))).toEqual([
      `homeground: files of the spool at ${folder} were removed while it was used; spans in them are lost with the process, where the collector does not take them before`,
    ])
  })

  it('at the end of its process leaves no file of spans that were all taken, and keeps one in which some wait', async () => {
    const folder = freshFolder()
    const queue = new SpoolQueue(origin, { folder })
    for (const name of ['a', 'b']) queue.add(Buffer.from(name))
    await queue.peek(100, 100)
    await queue.done(1)
    queue.keep()
    expect(fs.readdirSync(folder)).toHaveLength(1)
    await queue.peek(100, 100)
    await queue.done(1)
    queue.keep()
    expect(fs.readdirSync(folder)).toEqual([])
    await queue.close()
  })

  it('gives what it leaves to the next one in the same process', async () => {
    const folder = freshFolder()
    const first = new SpoolQueue(origin, { folder })
    first.add(Buffer.from('left'))
    expect(await first.close()).toBe(0)
    const second = new SpoolQueue(origin, { folder })
    expect(texts((await second.peek(100, 100))?.pieces)).toEqual(['left'])
    await second.done(1)
    await second.close()
    expect(fs.readdirSync(folder)).toEqual([])
  })

  it('goes over to a new file when one is full, and removes each that is done', async () => {
    const folder = freshFolder()
    const queue = new SpoolQueue(origin, { folder })
    for (let n = 0; n < 5; n += 1) {
      queue.add(Buffer.alloc(5 * 1024 * 1024, n))
      await queue.peek(1, 1)
    }
    expect(fs.readdirSync(folder)).toHaveLength(3)
    const seen: number[] = []
    for (let batch = await queue.peek(1, 1); batch !== undefined; batch = await queue.peek(1, 1)) {
      seen.push(batch.pieces[0]?.[0] ?? -1)
      await queue.done(1)
    }
    expect(seen).toEqual([0, 1, 2, 3, 4])
    expect(fs.readdirSync(folder)).toHaveLength(1)
    await queue.close()
    expect(fs.readdirSync(folder)).toEqual([])
  })

  it('holds no more in memory than its bound while the disk is slower than the product', async () => {
    const queue = new SpoolQueue(origin, { folder: freshFolder() })
    const mebibyte = Buffer.alloc(1024 * 1024)
    const taken = Array.from({ length: 66 }, () => queue.add(mebibyte))
    expect(taken.lastIndexOf(true)).toBe(63)
    await queue.peek(1, 1)
    expect([queue.add(mebibyte), queue.count]).toEqual([true, 65])
    await queue.close()
  })
})
