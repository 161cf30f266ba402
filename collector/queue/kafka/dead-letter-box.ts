// The dead letters as a person works on them: look, send again, drop.
import { HomegroundError } from '@homeground/sdk/trace'
import type { Log } from '../../http/types.ts'
import { kafkaClient, queueUnavailable } from './client.ts'
import { readLetters, removeLetters, type StoredLetter } from './dead-letter.ts'
import { type LetterSubject, lettersAbout } from './letters-about.ts'
import type { KafkaOptions } from './options.ts'
import { Publisher } from './publisher.ts'

export interface DeadLetterSummary {
  id: string
  reason: string
  at: string
  trace: string
  bytes: number
}

export interface DeadLetterBox {
  /** Oldest first. */
  list(): Promise<DeadLetterSummary[]>
  /** Those that hold something of somebody: of these traces, of this user or session (`names`), and all others of a trace that such a letter names. */
  about(subject: LetterSubject): Promise<(DeadLetterSummary & { names: boolean })[]>
  /** The letter with its value, as text. @throws HomegroundError not-found */
  show(id: string): Promise<DeadLetterSummary & { value: string }>
  /** Puts letters on the topic again, then takes them out: what fails again is a new letter. `all`, or ids. @returns how many @throws HomegroundError not-found */
  retry(ids: readonly string[] | 'all'): Promise<number>
  /** Takes letters out for good. @returns how many @throws HomegroundError not-found */
  drop(ids: readonly string[] | 'all'): Promise<number>
  close(): Promise<void>
}

/** @throws HomegroundError queue-unavailable */
export async function openDeadLetters(options: KafkaOptions, log: Log): Promise<DeadLetterBox> {
  const kafka = kafkaClient(options, log, 'homeground-dlq')
  const publisher = new Publisher(kafka, { ...options, log })
  const producer = kafka.producer({ allowAutoTopicCreation: false })
  try {
    await Promise.all([publisher.connect(), producer.connect()])
  } catch (error) {
    throw queueUnavailable(error, 'does not answer')
  }
  const chosen = async (ids: readonly string[] | 'all'): Promise<StoredLetter[]> => {
    const letters = await readLetters(kafka, options)
    if (ids === 'all') return letters
    return ids.map((id) => letters.find((letter) => letter.id === id) ?? notFound(id))
  }
  return {
    list: async () => (await readLetters(kafka, options)).map(summary),
    about: async (subject) =>
      lettersAbout(await readLetters(kafka, options), subject).map(({ letter, names }) => ({ ...summary(letter), names })),
    show: async (id) => {
      const [letter = notFound(id)] = await chosen([id])
      return { ...summary(letter), value: letter.value.toString('utf8') }
    },
    retry: async (ids) => {
      const letters = await chosen(ids)
      await publisher.publish(letters.map(({ trace, value, id }) => ({ key: trace, value, headers: { 'homeground-retried': id } })))
      await removeLetters(producer, options, letters)
      return letters.length
    },
    drop: async (ids) => {
      const letters = await chosen(ids)
      await removeLetters(producer, options, letters)
      return letters.length
    },
    close: async () => {
      await publisher.close()
      await producer.disconnect()
    },
  }
}

function summary({ id, reason, at, trace, value }: StoredLetter): DeadLetterSummary {
  return { id, reason, at, trace, bytes: value.length }
}

function notFound(id: string): never {
  throw new HomegroundError('not-found', `there is no dead letter ${id}`, { hint: '`homeground dlq list` shows those that there are' })
}
