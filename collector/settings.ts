// The collector's settings: the store's, and its own.
import path from 'node:path'
import { z } from 'zod'
import { storeSettings } from '../store/index.ts'
import { kafkaSettings } from './queue/kafka/index.ts'

export const collectorSettings = z.object({
  ...storeSettings.shape,
  HOMEGROUND_HOST: z.string().default('127.0.0.1').describe('address to listen on; without keys only a loopback address is allowed'),
  HOMEGROUND_PORT: z.coerce.number().int().min(0).max(65_535).default(4318).describe('port to listen on, 0 for a free one'),
  HOMEGROUND_MAX_BODY_BYTES: z.coerce
    .number()
    .int()
    .min(1024)
    .max(512 * 1024 * 1024)
    .default(32 * 1024 * 1024)
    .describe('largest request body, opened; the same for SDK and Kafka'),
  HOMEGROUND_MAX_BYTES_IN_FLIGHT: z.coerce
    .number()
    .int()
    .min(1024 * 1024)
    .default(128 * 1024 * 1024)
    .describe('bytes of requests held at once; above it 429'),
  HOMEGROUND_KEYS_FILE: z.string().optional().describe('file of key hashes, made by `homeground keys create` (default FOLDER/keys.json)'),
  HOMEGROUND_REQUESTS_PER_SECOND: z.coerce.number().min(0).default(0).describe('most requests of one key or address, 0 for no limit'),
  HOMEGROUND_DRAIN_SECONDS: z.coerce.number().min(0).default(20).describe('how long SIGTERM waits for requests under way'),
  HOMEGROUND_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('least severe line of the log'),
  ...kafkaSettings.shape,
})

export type CollectorSettings = z.infer<typeof collectorSettings>

/** Where the keys are. */
export function keyFile(settings: Pick<CollectorSettings, 'HOMEGROUND_KEYS_FILE' | 'HOMEGROUND_FOLDER'>): string {
  return settings.HOMEGROUND_KEYS_FILE ?? path.join(settings.HOMEGROUND_FOLDER, 'keys.json')
}
