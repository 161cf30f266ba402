// The settings of the Kafka queue. Without brokers there is no queue: the collector then writes to the store itself.
import { z } from 'zod'

const file = z.string().min(1)

export const kafkaSettings = z.object({
  HOMEGROUND_ROLE: z
    .enum(['all', 'receive', 'ingest'])
    .default('all')
    .describe('receive: OTLP to Kafka; ingest: Kafka to ClickHouse; all: both in one process. The first two need brokers'),
  HOMEGROUND_KAFKA_BROKERS: z
    .string()
    .transform((text) => text.split(',').map((broker) => broker.trim()))
    .refine((brokers) => brokers.every((broker) => /^[^\s:]+:\d+$|^\[[0-9a-fA-F:]+\]:\d+$/.test(broker)), 'host:port,host:port,…')
    .optional()
    .describe('host:port, several with commas; without them rows go straight into the store'),
  HOMEGROUND_KAFKA_TOPIC: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,200}$/, 'a topic name of letters, digits, dot, _ and -')
    .default('homeground')
    .describe('topic of the rows; dead letters are in the topic of that name with .dead'),
  HOMEGROUND_KAFKA_GROUP: z.string().min(1).default('homeground-ingest').describe('consumer group of the ingesters'),
  HOMEGROUND_KAFKA_PARTITIONS: z.coerce.number().int().min(1).default(12).describe('partitions of the topic, where it has to be made'),
  HOMEGROUND_KAFKA_REPLICATION: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe('replicas of each topic, where it has to be made (default: 3, or as many as there are brokers)'),
  HOMEGROUND_KAFKA_COMPRESSION: z.enum(['none', 'gzip', 'snappy', 'lz4']).default('none').describe('how the receivers compress'),
  HOMEGROUND_KAFKA_MAX_MESSAGE_BYTES: z.coerce
    .number()
    .int()
    .min(4_096)
    .default(1_000_000)
    .describe("most bytes in one message or batch, below the topic's max.message.bytes; what is larger travels in parts"),
  HOMEGROUND_KAFKA_SESSION_SECONDS: z.coerce
    .number()
    .min(1)
    .max(300)
    .default(15)
    .describe('an ingester that is silent for so long loses its partitions to the others'),
  HOMEGROUND_KAFKA_PUBLISH_SECONDS: z.coerce
    .number()
    .min(0.1)
    .default(20)
    .describe('how long a request waits for an absent broker before it is answered with 503'),
  HOMEGROUND_KAFKA_PARTS_SECONDS: z.coerce
    .number()
    .min(1)
    .default(120)
    .describe(
      'a value in parts that is not whole after so long becomes a dead letter; longer than HOMEGROUND_KAFKA_PUBLISH_SECONDS of any receiver',
    ),
  HOMEGROUND_KAFKA_TLS: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('true: TLS'),
  HOMEGROUND_KAFKA_TLS_CA: file.optional().describe('PEM file of the authority that signed the brokers’ certificates'),
  HOMEGROUND_KAFKA_TLS_CERT: file.optional().describe('PEM file of our own certificate, with HOMEGROUND_KAFKA_TLS_KEY'),
  HOMEGROUND_KAFKA_TLS_KEY: file.optional().describe('PEM file of its key'),
  HOMEGROUND_KAFKA_SASL_MECHANISM: z
    .enum(['plain', 'scram-sha-256', 'scram-sha-512'])
    .optional()
    .describe('how to log in, with HOMEGROUND_KAFKA_SASL_USER and _PASSWORD'),
  HOMEGROUND_KAFKA_SASL_USER: z.string().min(1).optional().describe('user name'),
  HOMEGROUND_KAFKA_SASL_PASSWORD: z.string().min(1).optional().describe('password'),
})

export type KafkaSettings = z.infer<typeof kafkaSettings>
