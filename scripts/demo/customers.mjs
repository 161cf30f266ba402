// The sixty customers who write to the support desk, over HTTP: the traffic of both demos.
import path from 'node:path'

/** `desk`: the folder of the compiled example. `url`: where it answers. Resolves with what was done, in words, when all have written. */
export async function sixtyCustomers(stage, { desk, url }) {
  const traffic = await stage.start('traffic', [path.join(desk, 'traffic', 'main.js')], {
    env: { DESK_URL: url },
    ready: /\d+ sessions, .*/,
    waitMs: 600_000,
  })
  return traffic.match[0]
}
