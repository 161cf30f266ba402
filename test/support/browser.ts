// A headless Chromium for page tests: Debian's, by playwright-core. Absent on many machines: `browserMissing` says why.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import type { Browser } from 'playwright-core'

const executable = [process.env['HOMEGROUND_CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && fs.existsSync(path),
)

/** Why no page can be opened here, for `missing('browser', …)`. */
export function browserMissing(): string | undefined {
  if (executable === undefined) return 'no Chromium: apt-get install chromium, or name one in HOMEGROUND_CHROMIUM'
  try {
    execFileSync(executable, ['--version'], { stdio: 'ignore', timeout: 20_000 })
    return undefined
  } catch {
    return `${executable} does not run`
  }
}

/** Close it when done. It phones nobody. */
export async function openBrowser(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  if (executable === undefined) throw new Error('no Chromium')
  const quiet = ['--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-gpu']
  return chromium.launch({ executablePath: executable, args: ['--no-sandbox', ...quiet] })
}
