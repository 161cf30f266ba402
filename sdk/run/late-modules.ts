// Modules of Node's that take milliseconds to load, loaded where they are first used: whoever imports the SDK does not wait for them. Each is asked for once,
// since `getBuiltinModule` goes over all exports of a module each time.

let crypto: typeof import('node:crypto') | undefined
let stream: typeof import('node:stream') | undefined
let workers: typeof import('node:worker_threads') | undefined
let zlib: typeof import('node:zlib') | undefined

/** `node:crypto`. */
export function nodeCrypto(): typeof import('node:crypto') {
  crypto ??= process.getBuiltinModule('node:crypto')
  return crypto
}

/** `node:stream`. */
export function nodeStream(): typeof import('node:stream') {
  stream ??= process.getBuiltinModule('node:stream')
  return stream
}

/** `node:worker_threads`. */
export function nodeWorkers(): typeof import('node:worker_threads') {
  workers ??= process.getBuiltinModule('node:worker_threads')
  return workers
}

/** `node:zlib`. */
export function nodeZlib(): typeof import('node:zlib') {
  zlib ??= process.getBuiltinModule('node:zlib')
  return zlib
}
