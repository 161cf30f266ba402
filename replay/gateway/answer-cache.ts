// Answers of models, kept in a folder by what was asked: the same rollout played again need not be paid again. Only answers that worked are kept; nothing is ever thrown out.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { asObject, asText, errorText, HomegroundError, makeFolder, parseJson } from '@homeground/sdk/trace'

export interface AnswerCacheSettings {
  /** Absolute. */
  folder: string
  /** Which samples are the same: those of one seed and repeat; with `any`, the k repeats of a task get one answer. @default repeat */
  share?: 'repeat' | 'any'
}

/** One rollout's view of the cache. */
export interface AnswerCache {
  /** The text of an answer to this request. The n-th time that a rollout asks the same, it is the n-th answer. */
  find(url: string, body: string): Kept
}

interface Kept {
  text: string | undefined
  keep(text: string): void
}

export function answerCache({ folder, share = 'repeat' }: AnswerCacheSettings, sample: { seed: number; repeat: number }): AnswerCache {
  const asked = new Map<string, number>()
  return {
    find(url, body) {
      const request = `${url}\n${body}`
      const time = (asked.get(request) ?? 0) + 1
      asked.set(request, time)
      const which = share === 'any' ? 'any' : `seed ${sample.seed} repeat ${sample.repeat}`
      const key = createHash('sha256').update(`${which} time ${time}\n${request}`).digest('hex')
      const file = path.join(folder, key.slice(0, 2), `${key}.json`)
      return { text: readText(file), keep: (text) => keepText(file, { url, text }) }
    },
  }
}

function readText(file: string): string | undefined {
  let content: string
  try {
    content = fs.readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  return asText(asObject(parseJson(content))?.['text'])
}

/** @throws HomegroundError folder-unwritable: a cache that keeps nothing would be paid for twice */
function keepText(file: string, { url, text }: { url: string; text: string }): void {
  const next = `${file}.${process.pid}.${Math.floor(performance.now() * 1_000)}.tmp`
  try {
    makeFolder(path.dirname(file))
    fs.writeFileSync(next, JSON.stringify({ format: 1, url, text }))
    fs.renameSync(next, file)
  } catch (cause) {
    throw new HomegroundError('folder-unwritable', `the cache cannot be written: ${errorText(cause)}`, {
      hint: 'give another folder with --cache, or leave it out',
      cause,
    })
  }
}
