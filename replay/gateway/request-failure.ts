// Why a request got no answer, in the words of what broke.
import { errorText } from '@homeground/sdk/trace'

/** `fetch failed` says nothing; its cause does. */
export function requestFailure(error: unknown): { type: string; message: string } {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code: unknown = typeof cause === 'object' && cause !== null ? Reflect.get(cause, 'code') : undefined
  const message = errorText(cause)
  return {
    type: typeof code === 'string' ? code : cause instanceof Error ? cause.name : 'Error',
    message: message === '' ? String(code) : message,
  }
}
