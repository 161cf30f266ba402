// `npm run test:faults`: compiles the fault run and runs it. Arguments: see options.ts.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
execFileSync(process.execPath, [here('../../node_modules/typescript/bin/tsc'), '-p', here('tsconfig.build.json')], { stdio: 'inherit' })
await import('./dist/bench/faults/main.js')
