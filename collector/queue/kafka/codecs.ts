// Codecs beside gzip, which kafkajs has itself: a batch in a codec that is not there is fatal to its consumer, and a topic's or another producer's settings may choose any.
import { createRequire } from 'node:module'
import { decompress as decompressZstd } from 'fzstd'
import kafkajs from 'kafkajs'

const require = createRequire(import.meta.url)

/** Makes kafkajs read all four codecs of Kafka, and write all but zstd; for the whole process. */
export function registerCodecs(): void {
  const { CompressionTypes, CompressionCodecs } = kafkajs
  CompressionCodecs[CompressionTypes.Snappy] = require('kafkajs-snappy')
  const Lz4 = require('@2l/kafkajs-lz4')
  CompressionCodecs[CompressionTypes.LZ4] = new (Lz4.default ?? Lz4)().codec
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: async () => {
      throw new Error('zstd is read, not written: choose none, gzip, snappy or lz4')
    },
    decompress: async (bytes: Buffer) => Buffer.from(decompressZstd(bytes)),
  })
}
