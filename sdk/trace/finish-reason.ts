// Why a model stopped, in the words of the GenAI conventions: stop, length, content_filter, tool_call, error. Another provider's word stays as it was sent.

const words: Readonly<Record<string, string>> = {
  // OpenAI, Chat Completions
  tool_calls: 'tool_call',
  function_call: 'tool_call',
  // Anthropic
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_call',
  // OpenAI, Responses
  max_output_tokens: 'length',
  completed: 'stop',
  // Vercel AI SDK
  'tool-calls': 'tool_call',
  'content-filter': 'content_filter',
}

/** A missing reason is `error`: the answer did not come to its end. */
export function finishReason(sent: string | undefined): string {
  if (sent === undefined || sent === '') return 'error'
  return Object.hasOwn(words, sent) ? (words[sent] ?? sent) : sent
}
