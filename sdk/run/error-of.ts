// An error as a span says it: the exception's name, and its message.

export function errorOf(error: unknown): { type: string; message: string } {
  try {
    if (error instanceof Error) return { type: error.name, message: error.message }
    return { type: 'Error', message: String(error) }
  } catch {
    return { type: 'Error', message: '' }
  }
}
