// A worker thread's main: plays rollouts of the product's code, several at a time, each with its own clock, dice and guard.
import { parentPort } from 'node:worker_threads'
import { systemDeps } from '../run/system-deps.ts'
import { executeRollout } from './rollout.ts'
import type { RolloutDeps } from './types.ts'
import { installVirtualGlobals } from './virtual/globals.ts'
import { outsideScope } from './virtual/scope.ts'
import { type FromWorker, faultOf, type ToWorker } from './worker-messages.ts'

// The system's own, before the product's are replaced.
const system = systemDeps()
const stopping = new AbortController()
const deps: RolloutDeps = {
  ...system,
  env: { ...process.env },
  fetch: (input, init) => outsideScope(() => system.fetch(input, init)),
  sleep: (ms, signal) => outsideScope(() => system.sleep(ms, signal)),
  signal: stopping.signal,
}
installVirtualGlobals()
// Vendors' clients refuse to be built without a key. The product's are never used in a replay: its calls go to the arm, with the arm's own key.
for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY']) process.env[name] ??= 'none-in-a-replay'

const port = parentPort
if (port === null) throw new Error('module-worker runs as a worker thread only')
const send = (message: FromWorker): void => port.postMessage(message)

port.on('message', (message: ToWorker) => {
  if (message.kind === 'abort') {
    stopping.abort(new Error('the run was stopped'))
    return
  }
  const { id, job } = message
  executeRollout(job, deps, { onBegin: () => send({ kind: 'begun', id }), onWait: () => send({ kind: 'waiting', id }) }).then(
    (result) => send({ kind: 'result', id, result }),
    (error: unknown) => send({ kind: 'fault', id, fault: faultOf(error) }),
  )
})
