// The customers who write to the support desk, over HTTP: the traffic of both demos.
import path from 'node:path'

/** `desk`: the folder of the compiled example. `url`: where it answers. `count`: how many of the 480; `from`: how many of them to pass over. Resolves with what was done, in words, when all have written. */
export async function customersWrite(stage, { desk, url, count = 60, from = 0 }) {
  const traffic = await stage.start('traffic', [path.join(desk, 'traffic', 'main.js')], {
    env: { DESK_URL: url, SESSIONS: String(count), FROM: String(from) },
    ready: /\d+ sessions, .*/,
    waitMs: 600_000,
  })
  return traffic.match[0]
}
