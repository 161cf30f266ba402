// Makes a vendor's client record by replacing the `fetch` that it holds, in place. It never builds a client: `withOptions` loses Azure's deployment and a
// subclass's arguments.
import type { Recorder } from '../run/recorder.ts'
import { warnHost } from '../run/warn-host.ts'
import { type Fetch, isRecording, recorderOf, recordingFetch, unrecorded } from './recording-fetch.ts'

/** Returns the same client. Wrapping twice is wrapping once; a client without a `fetch` of its own is left as it is, with a warning. */
export function wrapClient<Client extends object>(client: Client, recorder: Recorder, maxBodyBytes: number): Client {
  if (typeof client !== 'object' || client === null) {
    warnHost(recorder, `wrap() was given ${client === null ? 'null' : typeof client}, no client; nothing is recorded of it`)
    return client
  }
  // A client may be anything: a proxy that refuses unknown names, a frozen one.
  const recording = recorder.guard(() => {
    const inner: unknown = Reflect.get(client, 'fetch')
    if (isRecording(inner)) {
      const other = recorderOf(inner)
      if (other !== undefined && other !== recorder)
        warnHost(
          recorder,
          'wrap() was given a client that another homeground() records: its calls go there and not here. Keep one homeground() a product, or make a client for each',
        )
      return true
    }
    if (typeof inner !== 'function') return false
    // One that recorded for somebody who has shut down is taken off.
    return Reflect.set(client, 'fetch', recordingFetch(unrecorded(inner as Fetch), recorder, { every: true, maxBodyBytes }))
  }, false)
  if (!recording)
    warnHost(
      recorder,
      `wrap() found no \`fetch\` that it may replace on ${className(client, recorder)} (is it frozen, or a proxy?); its calls are not recorded. Where it takes a \`fetch\` option, give it hg.wrap({ fetch }).fetch; else see docs/sdk/what-fetch-cannot-see.md`,
    )
  return client
}

function className(client: { constructor?: { name?: unknown } }, recorder: Recorder): string {
  const name = recorder.guard(() => client.constructor?.name, undefined)
  return typeof name === 'string' && name !== '' && name !== 'Object' ? `the client ${name}` : 'the client'
}
