// A homeground() of one test, which ends with it.
import { type HomegroundOptions, homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import { onTestFinished } from 'vitest'

/** What it records is in `exporter`, put together by `hg.flush()`. */
export function recorded(options: Partial<HomegroundOptions> = {}) {
  const exporter = new MemoryExporter()
  const hg = homeground({ project: 'test', exporter, ...options })
  onTestFinished(() => hg.shutdown())
  return { hg, exporter }
}
