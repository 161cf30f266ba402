// `npm run bench:kafka`: compiles the measurement through Kafka and runs it. Arguments: see main.ts.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
execFileSync(process.execPath, [here('../../../node_modules/typescript/bin/tsc'), '-p', here('tsconfig.build.json')], { stdio: 'inherit' })
await import('./dist/bench/ingest/kafka/main.js')
