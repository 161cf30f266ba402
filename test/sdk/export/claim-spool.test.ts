import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { claimSpool, type SpooledSpan } from '../../../sdk/export/claim-spool.ts'
import { SpoolQueue } from '../../../sdk/export/spool-queue.ts'
import { parseSegment, SpoolSegment } from '../../../sdk/export/spool-segment.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true, force: true })
})
function freshFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-claim-'))
  folders.push(folder)
  return folder
}

const origin = { resource: { 'service.name': 'before', n: 1, list: ['ä', 2.5, true] }, scope: { name: 's', version: '1' } }
const thisHost = createHash('sha256').update(os.hostname()).digest('hex').slice(0, 8)
/** No process has it: the kernel's largest is 4194304. */
const ended = 4_999_999

/** A file of a process that has ended, with these spans; `acknowledged` of them are. */
async function leave(
  folder: string,
  n: number,
  names: readonly string[],
  { acknowledged = 0, pid = ended, host = thisHost } = {},
): Promise<string> {
  const file = path.join(folder, `spans-${host}-${pid}-m1${n}-${n}.spool`)
  SpoolSegment.write(
    file,
    origin,
    names.map((name) => Buffer.from(name)),
  )
  const bytes = fs.readFileSync(file)
  const at = parseSegment(bytes)?.records[acknowledged - 1]?.end
  if (at !== undefined) bytes.writeBigUInt64LE(BigInt(at), 8)
  fs.writeFileSync(file, bytes)
  return file
}

const named =
  (...names: string[]) =>
  ({ request }: SpooledSpan) =>
    names.some((name) => request.toString('latin1').endsWith(name))
const everyFile = (folder: string) =>
  Object.fromEntries(fs.readdirSync(folder).map((name) => [name, fs.readFileSync(path.join(folder, name), 'latin1')]))

/** What a recorder would send of the folder now. */
async function sent(folder: string): Promise<string[]> {
  const queue = new SpoolQueue(origin, { folder })
  const all: string[] = []
  for (let batch = await queue.peek(1e9, 1e9); batch !== undefined; batch = await queue.peek(1e9, 1e9)) {
    expect(batch.origin).toEqual(origin)
    all.push(...batch.pieces.map(String))
    await queue.done(batch.pieces.length)
  }
  await queue.close()
  return all
}

describe('a claimed spool', () => {
  it('loses what is to go, and keeps the rest as it was: records byte for byte, files without such a span untouched', async () => {
    const folder = freshFolder()
    const mixed = await leave(folder, 1, ['ann1', 'bob1', 'ann2', 'bob2'])
    const other = await leave(folder, 2, ['bob3'])
    await leave(folder, 3, ['ann3'])
    const [before, untouched] = [fs.readFileSync(mixed), fs.statSync(other)]
    const spool = await claimSpool(folder)
    expect(await spool.remove(named('ann1', 'ann2', 'ann3'))).toBe(3)
    await spool.release()
    expect(fs.readdirSync(folder)).toEqual([mixed, other].map((file) => path.basename(file)))
    expect([fs.statSync(other).ino, fs.statSync(other).mtimeMs]).toEqual([untouched.ino, untouched.mtimeMs])
    const after = fs.readFileSync(mixed)
    expect(after.includes('ann')).toBe(false)
    const records = (bytes: Buffer) =>
      parseSegment(bytes)?.records.map(({ start, end }) => bytes.subarray(start, end).toString('latin1')) ?? []
    expect(records(after)).toEqual(records(before).filter((record) => record.includes('bob')))
    expect(after.subarray(0, parseSegment(after)?.begin)).toEqual(before.subarray(0, parseSegment(before)?.begin))
    expect(await sent(folder)).toEqual(['bob1', 'bob2', 'bob3'])
  })

  it('shows each span as a request of its own, and which of them were sent already', async () => {
    const folder = freshFolder()
    await leave(folder, 1, ['ann1', 'bob1', 'bob2'], { acknowledged: 1 })
    const before = everyFile(folder)
    const spool = await claimSpool(folder)
    const seen: [string, boolean][] = []
    for await (const { request, waits } of spool.spans()) seen.push([request.subarray(-4).toString(), waits])
    expect(seen).toEqual([
      ['ann1', false],
      ['bob1', true],
      ['bob2', true],
    ])
    // One that was sent lies on the disk as well.
    expect(await spool.remove(() => false)).toBe(0)
    await spool.release()
    expect(everyFile(folder)).toEqual(before)
    const again = await claimSpool(folder)
    expect(await again.remove(named('ann1'))).toBe(0)
    await again.release()
    expect(JSON.stringify(everyFile(folder))).not.toContain('ann')
    expect(await sent(folder)).toEqual(['bob1', 'bob2'])
  })

  it('is refused while a process of the product lives that has one of its files, and nothing is changed', async () => {
    const folder = freshFolder()
    await leave(folder, 1, ['ann1'])
    await leave(folder, 2, ['bob1'], { pid: process.ppid })
    const before = everyFile(folder)
    await expect(claimSpool(folder)).rejects.toMatchObject({ code: 'spool-in-use', message: expect.stringContaining(`-${process.ppid}-`) })
    expect(everyFile(folder)).toEqual(before)
  })

  it('is refused while another machine’s process wrote a moment ago, and had ten minutes after', async () => {
    const folder = freshFolder()
    const file = await leave(folder, 1, ['ann1'], { host: '0123abcd' })
    await expect(claimSpool(folder)).rejects.toMatchObject({ code: 'spool-in-use' })
    fs.utimesSync(file, new Date(), new Date(Date.now() - 11 * 60_000))
    const spool = await claimSpool(folder)
    expect(await spool.remove(named('ann1'))).toBe(1)
    await spool.release()
    expect(fs.readdirSync(folder)).toEqual([])
  })

  it('is left alone by recorders that start meanwhile, and by a second claim', async () => {
    const folder = freshFolder()
    await leave(folder, 1, ['ann1', 'bob1'])
    const spool = await claimSpool(folder)
    expect(await sent(folder)).toEqual([])
    await expect(claimSpool(folder)).rejects.toMatchObject({ code: 'spool-in-use' })
    expect(await spool.remove(named('ann1'))).toBe(1)
    await spool.release()
    expect(await sent(folder)).toEqual(['bob1'])
  })

  it('cuts off what a kill left unfinished, leaves a file with a torn head and files that are not its own', async () => {
    const folder = freshFolder()
    const tail = await leave(folder, 1, ['bob1', 'ann1'])
    fs.truncateSync(tail, fs.statSync(tail).size - 1)
    const head = await leave(folder, 2, ['ann2'])
    fs.writeFileSync(head, fs.readFileSync(head).fill(0, 0, 25))
    const short = await leave(folder, 3, [])
    fs.truncateSync(short, 10)
    fs.writeFileSync(path.join(folder, 'notes.txt'), 'ann')
    fs.writeFileSync(path.join(folder, `spans-${thisHost}-${ended}-m1-9.spool.next`), 'half a file')
    const before = everyFile(folder)
    const spool = await claimSpool(folder)
    expect(spool.unreadable).toEqual([head, short].map((file) => path.basename(file)))
    expect(await spool.remove(named('ann1'))).toBe(0)
    await spool.release()
    const after = everyFile(folder)
    const { [path.basename(tail)]: cut, ...others } = after
    expect(cut).not.toContain('ann')
    expect(cut).toContain('bob1')
    const { [path.basename(tail)]: _tail, [`spans-${thisHost}-${ended}-m1-9.spool.next`]: _next, ...same } = before
    expect(others).toEqual(same)
    expect(await sent(folder)).toEqual(['bob1'])
  })

  it('says which folder is not there', async () => {
    const missing = path.join(freshFolder(), 'none')
    await expect(claimSpool(missing)).rejects.toMatchObject({ code: 'not-found', message: expect.stringContaining(missing) })
    expect(fs.existsSync(missing)).toBe(false)
  })

  it('loses nothing but what is to go when the process is killed in the middle, and is finished by the next', async () => {
    const folder = freshFolder()
    const kept: string[] = []
    for (let n = 0; n < 20; n += 1) {
      const names = Array.from({ length: 8 }, (_, m) => `${'x'.repeat(200_000)}${m % 2 === 0 ? 'ann' : 'bob'}${n}-${m}.`)
      await leave(folder, n, names)
      kept.push(...names.filter((name) => name.includes('bob')))
    }
    const code = pathToFileURL(path.resolve('sdk/dist/export/claim-spool.js')).href
    const program = `
      const { claimSpool } = await import(${JSON.stringify(code)})
      const spool = await claimSpool(${JSON.stringify(folder)})
      process.stdout.write('claimed')
      await spool.remove(({ request }) => request.includes('ann'))
      await spool.release()`
    for (const delayMs of [0, 2, 5, 10, 20, 40]) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
      await new Promise((resolve) => child.stdout.once('data', resolve))
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      child.kill('SIGKILL')
      await new Promise((resolve) => child.once('exit', resolve))
      const found = new Map<string, number>()
      for (const name of fs.readdirSync(folder).filter((one) => one.endsWith('.spool'))) {
        const bytes = fs.readFileSync(path.join(folder, name))
        for (const { start, end } of parseSegment(bytes)?.records ?? []) {
          const text = bytes.toString('latin1', start + 8, end)
          if (text.includes('bob')) found.set(text, (found.get(text) ?? 0) + 1)
        }
      }
      expect([...found.keys()].sort()).toEqual([...kept].sort())
      expect(Math.max(...found.values())).toBe(1)
    }
    const spool = await claimSpool(folder)
    await spool.remove(({ request }) => request.includes('ann'))
    await spool.release()
    expect(JSON.stringify(everyFile(folder))).not.toContain('ann')
    expect((await sent(folder)).sort()).toEqual(kept.sort())
    expect(fs.readdirSync(folder)).toEqual([])
  })
})
