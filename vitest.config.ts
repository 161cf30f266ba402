import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { ClosingLineReporter } from './test/support/closing-line-reporter.ts'

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', new ClosingLineReporter()],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // Two cores: engines, collectors and browsers of several files at once starve each other.
    maxWorkers: 2,
  },
  resolve: {
    // Tests run the sources; child processes that they start run dist/, which global-setup builds.
    alias: [
      { find: /^@homeground\/sdk$/, replacement: source('./sdk/index.ts') },
      { find: /^@homeground\/sdk\/register$/, replacement: source('./sdk/register.ts') },
      { find: /^@homeground\/sdk\/spool$/, replacement: source('./sdk/export/claim-spool.ts') },
      { find: /^@homeground\/sdk\/seam$/, replacement: source('./sdk/run/index.ts') },
      { find: /^@homeground\/sdk\/(trace|testing)$/, replacement: source('./sdk/$1/index.ts') },
      { find: /^homeground$/, replacement: source('./index.ts') },
    ],
  },
})
