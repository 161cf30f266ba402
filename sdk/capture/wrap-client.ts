// Makes a vendor's client record by replacing the `fetch` that it holds, in place. It never builds a client: `withOptions` loses Azure's deployment and a
// subclass's arguments.
import { diag } from '@opentelemetry/api'
import type { Recorder } from '../run/recorder.ts'
import { type Fetch, isRecording, recordingFetch } from './recording-fetch.ts'

/** Returns the same client. Wrapping twice is wrapping once; a client without a `fetch` of its own is left as it is, with a warning. */
export function wrapClient<Client extends object>(client: Client, recorder: Recorder, maxBodyBytes: number): Client {
  const inner: unknown = Reflect.get(client, 'fetch')
  if (isRecording(inner)) return client
  if (typeof inner !== 'function') {
    diag.warn(
      `homeground: wrap() found no \`fetch\` on ${client.constructor?.name ?? 'the client'}; its calls are not recorded. Give its HTTP client hg.fetch instead`,
    )
    return client
  }
  Reflect.set(client, 'fetch', recordingFetch(inner as Fetch, recorder, { every: true, maxBodyBytes }))
  return client
}
