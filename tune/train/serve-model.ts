// A model of ours behind an OpenAI-compatible URL for as long as somebody needs it: a Python process of the trainer, started and ended here.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { HomegroundError } from '@homeground/sdk/trace'
import { startTrainerProcess } from './trainer-process.ts'

export interface ServeOptions {
  python: string
  /** A model folder, an adapter folder, or the output folder of a training run. */
  model: string
  /** The name that clients ask for. @default the folder's */
  name?: string
  /** @default 127.0.0.1 */
  host?: string
  /** @default a free one */
  port?: number
  /** A file or a name of TRL's, over the model's own. */
  chatTemplate?: string
  /** @default auto */
  device?: 'auto' | 'cpu' | 'cuda'
}

export interface ServedModel extends AsyncDisposable {
  /** Ends with /v1. */
  url: string
  /** What clients ask for; an adapter's base is served beside it as `base`. */
  name: string
  models: string[]
  /** Resolves when the server has ended by itself. @throws HomegroundError training-failed */
  ended: Promise<void>
  stop(): Promise<void>
}

/** Resolves once it answers. @throws HomegroundError invalid-settings, port-in-use, training-failed */
export async function serveModel(options: ServeOptions): Promise<ServedModel> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-serve-'))
  const given = ['serve', options.model]
  if (options.name !== undefined) given.push('--name', options.name)
  if (options.host !== undefined) given.push('--host', options.host)
  if (options.port !== undefined) given.push('--port', String(options.port))
  if (options.chatTemplate !== undefined) given.push('--chat-template', options.chatTemplate)
  if (options.device !== undefined) given.push('--device', options.device)
  let answers: (served: { url: string; name: string; models: string[] }) => void = () => {}
  const answering = new Promise<{ url: string; name: string; models: string[] }>((resolve) => {
    answers = resolve
  })
  const server = startTrainerProcess({
    python: options.python,
    given,
    log: path.join(folder, 'log.txt'),
    onEvent: (event) => {
      if (event.event === 'serving') answers({ url: event.url, name: event.model, models: event.models })
    },
  })
  // Kept where it failed: the error names it.
  const ended = server.ended.then(() => fs.rmSync(folder, { recursive: true, force: true }))
  ended.catch(() => {})
  const first = await Promise.race([answering, ended.then(() => undefined)])
  if (first === undefined) {
    throw new HomegroundError('training-failed', `the server for ${options.model} ended before it answered`, {
      hint: 'run `homeground serve` with the same model to see why',
    })
  }
  return { ...first, ended, stop: () => server.stop(), [Symbol.asyncDispose]: () => server.stop() }
}
