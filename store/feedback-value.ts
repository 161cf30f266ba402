/** The value of feedback as somebody writes it in a query: true, false, a number, else a text. */
export function feedbackValue(text: string): number | boolean | string {
  if (text === 'true' || text === 'false') return text === 'true'
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}
