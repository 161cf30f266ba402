// The one error base of the project: a code from one table, a hint that names the next action. docs/errors.md has an anchor for each code.

/** Every code, what it means, and the exit code of a command that ends with it: 2 wrong use or settings, 3 it failed. */
export const errorCodes = {
  'invalid-argument': { exit: 2, meaning: 'A command-line option or function argument cannot be used as given.' },
  'invalid-settings': { exit: 2, meaning: 'Settings (environment variables or a settings file) cannot be used as given.' },
  'invalid-input': { exit: 2, meaning: 'A file or body that was handed in is not what it should be; the message names the line or field.' },
  'unknown-format': { exit: 2, meaning: 'The format asked for does not exist.' },
  'not-found': { exit: 2, meaning: 'A file, folder, run, trace or environment that was named is not there.' },
  'environment-invalid': { exit: 2, meaning: 'An environment folder lacks a file or one of its files breaks the format.' },
  'unknown-grader': { exit: 2, meaning: 'rubric.json names a grader type that does not exist.' },
  'engine-missing': { exit: 2, meaning: 'The embedded ClickHouse engine is not installed and no server URL is set.' },
  'engine-locked': { exit: 2, meaning: 'Another process holds the engine folder.' },
  'engine-failed': { exit: 3, meaning: 'The embedded engine did not start or has ended.' },
  'folder-unwritable': { exit: 2, meaning: 'A file or folder that must be written cannot be.' },
  'disk-full': { exit: 3, meaning: 'There is no room left where something must be written.' },
  'spool-in-use': { exit: 2, meaning: 'A process of the product that runs holds the spool that is to be changed.' },
  'port-in-use': { exit: 2, meaning: 'The port asked for belongs to another process.' },
  'store-unavailable': { exit: 3, meaning: 'ClickHouse did not answer.' },
  'queue-unavailable': { exit: 3, meaning: 'Kafka did not answer, or did not take what it was given.' },
  'store-newer': { exit: 2, meaning: 'The store was written by a newer Homeground.' },
  'seam-not-found': {
    exit: 2,
    meaning: 'The product did not answer the replay handshake: it does not use the SDK, or another copy of it.',
  },
  'unwrapped-network': { exit: 3, meaning: 'In replay: the product tried to reach the network on its own.' },
  'unwrapped-process': { exit: 3, meaning: 'In replay: the product tried to start or end a process or thread of its own.' },
  'off-tape': { exit: 3, meaning: 'In replay: a tool call left the tape and the miss policy is fail.' },
  'simulation-failed': { exit: 3, meaning: 'In replay: the model that stands in for a tool or a user gave no usable answer.' },
  'run-mismatch': { exit: 2, meaning: 'The run folder was made with other settings, or from an environment that has changed since.' },
  'worker-fault': {
    exit: 2,
    meaning: 'A worker cannot play the run that it was handed rollouts of: its copy of the environment or its settings.',
  },
  'python-missing': { exit: 2, meaning: "The trainer's Python environment is not there, or of another version." },
  'setup-failed': { exit: 3, meaning: "The trainer's Python environment could not be made." },
  'training-failed': { exit: 3, meaning: 'The trainer broke off; the same command goes on from its last checkpoint.' },
  'session-leak': { exit: 2, meaning: 'A session stands in two splits of the data: what was trained on would be tested on.' },
  'step-failed': { exit: 3, meaning: 'A step of the loop ended with an error; the same command goes on with it.' },
  interrupted: { exit: 3, meaning: 'The work was stopped before its end; the same command goes on where it stopped.' },
  internal: { exit: 3, meaning: 'A fault of Homeground itself.' },
} as const satisfies Record<string, { exit: 2 | 3; meaning: string }>

/** A code of `HomegroundError`; docs/errors.md says what to do for each. */
export type ErrorCode = keyof typeof errorCodes

const marker = Symbol.for('@homeground/error@1')

/**
 * Message: what happened, where (file, line or field) and what was expected. Hint: the next action.
 * Recognised across copies of the package by `HomegroundError.is`, not by `instanceof`.
 */
export class HomegroundError extends Error {
  readonly code: ErrorCode
  readonly hint: string
  /** Whether the same call may succeed later without a change. @default false */
  readonly retryable: boolean

  constructor(code: ErrorCode, message: string, options: { hint: string; cause?: unknown; retryable?: boolean }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'HomegroundError'
    this.code = code
    this.hint = options.hint
    this.retryable = options.retryable ?? false
    Object.defineProperty(this, marker, { value: true })
  }

  /** True for an error made by any copy of this class. */
  static is(error: unknown): error is HomegroundError {
    try {
      return typeof error === 'object' && error !== null && marker in error
    } catch {
      // A proxy that is revoked, or whose traps throw.
      return false
    }
  }
}
