// The recorded episodes of an environment, asked for mostly in task order: a compressed file is read forward once, and again from its start only where somebody goes back.
import { type Episode, expandEpisodeLine, HomegroundError, readJsonLines } from '@homeground/sdk/trace'

/** How many episodes are kept for rollouts of the same task, and for tasks run at the same time. */
const kept = 64

export class Recordings {
  readonly #path: string
  readonly #recent = new Map<string, Episode>()
  #lines: AsyncGenerator<{ value: unknown; line: number }, void, void> | undefined
  #queue: Promise<unknown> = Promise.resolve()

  constructor(path: string) {
    this.#path = path
  }

  /** `undefined` where the file has no episode of this id. Calls are served one after another. */
  async find(id: string): Promise<Episode | undefined> {
    const found = this.#queue.then(() => this.#find(id))
    this.#queue = found.catch(() => {})
    return await found
  }

  async close(): Promise<void> {
    await this.#lines?.return()
    this.#lines = undefined
  }

  async #find(id: string): Promise<Episode | undefined> {
    const recent = this.#recent.get(id)
    if (recent !== undefined) return recent
    return (await this.#forward(id)) ?? (await this.#again(id))
  }

  async #again(id: string): Promise<Episode | undefined> {
    await this.close()
    return await this.#forward(id)
  }

  async #forward(id: string): Promise<Episode | undefined> {
    this.#lines ??= readJsonLines(this.#path)
    for (;;) {
      const next = await this.#lines.next()
      if (next.done === true) {
        this.#lines = undefined
        return undefined
      }
      const { value, line } = next.value
      // Those on the way may be asked for soon.
      const episode = expand(value, `${this.#path}:${line}`)
      this.#keep(episode)
      if (episode.id === id) return episode
    }
  }

  #keep(episode: Episode): void {
    this.#recent.set(episode.id, episode)
    const [oldest] = this.#recent.keys()
    if (this.#recent.size > kept && oldest !== undefined) this.#recent.delete(oldest)
  }
}

function expand(value: unknown, place: string): Episode {
  try {
    return expandEpisodeLine(value, place)
  } catch (error) {
    if (!HomegroundError.is(error)) throw error
    throw new HomegroundError('environment-invalid', error.message, { hint: 'build the environment again', cause: error })
  }
}
