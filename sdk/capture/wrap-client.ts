// Makes a vendor's client record by replacing the `fetch` that it holds, in place. It never builds a client: `withOptions` loses Azure's deployment and a
// subclass's arguments.
import { diag } from '../run/host-telemetry.ts'
import type { Recorder } from '../run/recorder.ts'
import { type Fetch, isRecording, recordingFetch } from './recording-fetch.ts'

/** Returns the same client. Wrapping twice is wrapping once; a client without a `fetch` of its own is left as it is, with a warning. */
export function wrapClient<Client extends object>(client: Client, recorder: Recorder, maxBodyBytes: number): Client {
  // A client may be anything: a proxy that refuses unknown names, null where a setting was missing.
  const recording = recorder.guard(() => {
    const inner: unknown = Reflect.get(client, 'fetch')
    if (isRecording(inner)) return true
    if (typeof inner !== 'function') return false
    return Reflect.set(client, 'fetch', recordingFetch(inner as Fetch, recorder, { every: true, maxBodyBytes }))
  }, false)
  if (!recording)
    diag.warn(
      'homeground: wrap() found no `fetch` to replace on the client; its calls are not recorded. Give its HTTP client hg.fetch instead',
    )
  return client
}
