// Makes a vendor's client record by replacing the `fetch` that it holds, in place. It never builds a client: `withOptions` loses Azure's deployment and a
// subclass's arguments.
import type { Recorder } from '../run/recorder.ts'
import { warnHost } from '../run/warn-host.ts'
import { type Fetch, isRecording, recordingFetch, unrecorded } from './recording-fetch.ts'

/** Returns the same client. Wrapping twice is wrapping once; a client without a `fetch` of its own is left as it is, with a warning. */
export function wrapClient<Client extends object>(client: Client, recorder: Recorder, maxBodyBytes: number): Client {
  // A client may be anything: a proxy that refuses unknown names, null where a setting was missing.
  const recording = recorder.guard(() => {
    const inner: unknown = Reflect.get(client, 'fetch')
    if (isRecording(inner)) return true
    if (typeof inner !== 'function') return false
    // One that recorded for somebody who has shut down is taken off.
    return Reflect.set(client, 'fetch', recordingFetch(unrecorded(inner as Fetch), recorder, { every: true, maxBodyBytes }))
  }, false)
  if (!recording)
    warnHost(
      recorder,
      'wrap() found no `fetch` that it may replace on the client (is it frozen, or a proxy?); its calls are not recorded. Give its HTTP client hg.fetch instead',
    )
  return client
}
