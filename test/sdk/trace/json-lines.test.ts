import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { JsonLinesWriter, type ReadJsonLinesOptions, readJsonLines } from '@homeground/sdk/trace'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'json-lines-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

async function all(name: string, options?: ReadJsonLinesOptions) {
  const lines = []
  for await (const line of readJsonLines(path.join(folder, name), options)) lines.push(line)
  return lines
}

function put(name: string, content: string | Buffer) {
  fs.writeFileSync(path.join(folder, name), content)
}

describe('readJsonLines', () => {
  test('gives each value with its line, over blank lines, CRLF, a byte order mark and a last line without an end', async () => {
    put('a.jsonl', '\ufeff{"a":1}\r\n\n  \n"é"\nnull')
    expect(await all('a.jsonl')).toEqual([
      { value: { a: 1 }, line: 1 },
      { value: 'é', line: 4 },
      { value: null, line: 5 },
    ])
  })

  test('reads lines and characters that span chunks', async () => {
    const long = { text: 'ü€😀'.repeat(100_000) }
    put('a.jsonl', `${JSON.stringify(long)}\n${JSON.stringify(long)}\n`)
    expect(await all('a.jsonl')).toEqual([
      { value: long, line: 1 },
      { value: long, line: 2 },
    ])
  })

  test('names the line that is not UTF-8, after all lines before it; a replacement mark that is meant passes', async () => {
    const good = `${JSON.stringify({ text: 'a \ufffd b' })}\n`
    put('meant.jsonl', good)
    expect(await all('meant.jsonl')).toEqual([{ value: { text: 'a \ufffd b' }, line: 1 }])
    put('latin.jsonl', Buffer.concat([Buffer.from(good), Buffer.from('"caf\xe9"\n', 'latin1'), Buffer.from(good)]))
    const read: unknown[] = []
    await expect(
      (async () => {
        for await (const line of readJsonLines(path.join(folder, 'latin.jsonl'))) read.push(line)
      })(),
    ).rejects.toMatchObject({ code: 'invalid-input', message: `${path.join(folder, 'latin.jsonl')}:2: not UTF-8 text` })
    expect(read).toEqual([{ value: { text: 'a \ufffd b' }, line: 1 }])
  })

  test('takes a last line that was cut within a character for a torn one', async () => {
    put('torn.jsonl', Buffer.from('1\n"é').subarray(0, 4))
    expect(await all('torn.jsonl', { tornTail: 'skip' })).toEqual([{ value: 1, line: 1 }])
    await expect(all('torn.jsonl')).rejects.toMatchObject({ code: 'invalid-input' })
  })

  test('opens .gz, also one of several members', async () => {
    put('a.jsonl.gz', Buffer.concat([gzipSync('1\n'), gzipSync('2\n')]))
    expect(await all('a.jsonl.gz')).toEqual([
      { value: 1, line: 1 },
      { value: 2, line: 2 },
    ])
  })

  test('names file and line of what is not JSON', async () => {
    put('a.jsonl', '1\n{"broken":\n3\n')
    await expect(all('a.jsonl')).rejects.toMatchObject({ code: 'invalid-input', message: expect.stringContaining('a.jsonl:2: not JSON') })
  })

  test('skips a torn tail only where it is asked to, and never a broken line before it', async () => {
    put('a.jsonl', '1\n{"torn":')
    await expect(all('a.jsonl')).rejects.toMatchObject({ code: 'invalid-input' })
    expect(await all('a.jsonl', { tornTail: 'skip' })).toEqual([{ value: 1, line: 1 }])
    put('b.jsonl', '{"torn":\n2\n')
    await expect(all('b.jsonl', { tornTail: 'skip' })).rejects.toMatchObject({ code: 'invalid-input' })
  })

  test('says what is wrong with a missing file, a folder and a gzip file cut short', async () => {
    await expect(all('gone.jsonl')).rejects.toMatchObject({ code: 'not-found' })
    await expect(all('gone.jsonl.gz')).rejects.toMatchObject({ code: 'not-found' })
    fs.mkdirSync(path.join(folder, 'd.jsonl'))
    await expect(all('d.jsonl')).rejects.toMatchObject({ code: 'invalid-input', message: expect.stringContaining('cannot be read') })
    put('cut.jsonl.gz', gzipSync('1\n2\n').subarray(0, 15))
    await expect(all('cut.jsonl.gz')).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringContaining('not a whole gzip file'),
    })
  })
})

describe('JsonLinesWriter', () => {
  test.each(['out.jsonl', 'out.jsonl.gz'])('shows %s under its name only once it is whole', async (name) => {
    put(name, 'old')
    const writer = await JsonLinesWriter.open(path.join(folder, name))
    for (let index = 0; index < 2000; index++) await writer.write({ index, text: 'x'.repeat(100) })
    expect(fs.readFileSync(path.join(folder, name), 'utf8')).toBe('old')
    await writer.close()
    expect((await all(name)).map(({ value }) => value)).toEqual(
      Array.from({ length: 2000 }, (_, index) => ({ index, text: 'x'.repeat(100) })),
    )
    expect(fs.readdirSync(folder)).toEqual([name])
  })

  test('leaves the old file and nothing beside it when it is given up', async () => {
    put('out.jsonl', 'old')
    const writer = await JsonLinesWriter.open(path.join(folder, 'out.jsonl'))
    await writer.write(1)
    await writer.abort()
    expect(fs.readdirSync(folder)).toEqual(['out.jsonl'])
    expect(fs.readFileSync(path.join(folder, 'out.jsonl'), 'utf8')).toBe('old')
  })

  test('fails without a crash where the folder is not there', async () => {
    const writer = await JsonLinesWriter.open(path.join(folder, 'gone', 'out.jsonl'))
    const written = (async () => {
      await writer.write(1)
      await writer.close()
    })()
    await expect(written).rejects.toThrow('ENOENT')
  })

  test('appends after the last whole line of a writer that was killed, and each line is there when write has resolved', async () => {
    put('out.jsonl', '1\n2\n{"torn')
    const writer = await JsonLinesWriter.open(path.join(folder, 'out.jsonl'), { append: true })
    await writer.write(3)
    expect(fs.readFileSync(path.join(folder, 'out.jsonl'), 'utf8')).toBe('1\n2\n3\n')
    await writer.close()
    await expect(JsonLinesWriter.open(path.join(folder, 'out.jsonl.gz'), { append: true })).rejects.toMatchObject({
      code: 'invalid-argument',
    })
  })
})

test('what a killed writer left beside a file goes when the file is written again; a live one’s stays', async () => {
  const dead = spawnSync(process.execPath, ['--version']).pid
  put(`a.jsonl.${dead}.tmp`, 'half')
  put(`a.jsonl.${process.ppid}.tmp`, 'another process, at work')
  put(`b.jsonl.${dead}.tmp`, 'of another file')
  const writer = await JsonLinesWriter.open(path.join(folder, 'a.jsonl'))
  await writer.write(1)
  await writer.close()
  expect(fs.readdirSync(folder).toSorted()).toEqual(['a.jsonl', `a.jsonl.${process.ppid}.tmp`, `b.jsonl.${dead}.tmp`].toSorted())
})
