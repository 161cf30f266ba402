// The log of commands that speak to Kafka: what goes wrong there is the command's error, and its tries before that are nobody's concern.
import type { Log } from '../collector/index.ts'

const quiet = (): void => {}

export const quietLog: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet }
