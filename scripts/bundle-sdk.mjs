// Bundles the entries of @homeground/sdk: loading one module after the other took longer than all else at import. What several entries need lies once, in
// dist/shared/, so that two entries in one process have one state. Packages stay imports. Nothing is renamed or squeezed: stack traces are read in it.
import fs from 'node:fs'
import path from 'node:path'
import { rolldown } from 'rolldown'

/** Bundled by itself, a copy of what it needs in it: no product loads it, and every shared file more is one that each product would wait for. */
const alone = ['export/claim-spool']

/** `folder`: sdk/. Writes the JavaScript of every entry that its package.json exports to `output`. */
export async function bundleSdk(folder, output) {
  const { exports, dependencies } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'))
  const entries = Object.values(exports)
    .map((entry) => entry.default)
    .filter((file) => file !== undefined)
    .map((file) => path.posix.relative('dist', file).replace(/\.js$/, ''))
  for (const together of [entries.filter((entry) => !alone.includes(entry)), ...alone.map((entry) => [entry])]) {
    const bundle = await rolldown({
      input: Object.fromEntries(together.map((entry) => [entry, path.join(folder, `${entry}.ts`)])),
      external: [/^node:/, ...Object.keys(dependencies)],
      platform: 'node',
      tsconfig: false,
    })
    await bundle.write({
      dir: output,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'shared/[name]-[hash].js',
    })
    await bundle.close()
  }
}
