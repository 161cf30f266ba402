// Words that stand for values which must not leave the process: the same value has the same word everywhere in a project, and nobody without the key
// can tell or try which value it was. A constant would merge two customers into one.
import { nodeCrypto } from '../run/late-modules.ts'

/** `<email:3f2a91c0>` for a value of kind `email`. What is such a word already stays as it is. */
export type Pseudonym = (kind: string, value: string) => string

const word = /^<[a-z][\w-]*:[0-9a-f]{8}>$/

/** Words of one project: another project's key, or another secret, gives others. */
export function pseudonymsOf(secret: string, project: string): Pseudonym {
  const { createHmac } = nodeCrypto()
  const key = createHmac('sha256', secret).update(`homeground pseudonyms of ${project}`).digest()
  return (kind, value) =>
    word.test(value) ? value : `<${kind}:${createHmac('sha256', key).update(`${kind}\n${value}`).digest('hex').slice(0, 8)}>`
}
