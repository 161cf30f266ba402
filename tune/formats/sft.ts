// Rows of supervised fine-tuning: a thread of an episode, in which each turn that the model said is trained once.
import { type Thread, threadMessages } from '../dataset/threads.ts'
import { type MessageStyle, type Row, rowMessages, rowTools } from './messages.ts'

/**
 * `{ messages, tools }`. Where the thread's first request holds assistant messages already (a branch of another thread, earlier turns of
 * the session, examples), they are said by somebody else and trained elsewhere or not at all: TRL gets `{ prompt, completion, tools }`,
 * OpenAI `weight: 0` on them.
 */
export function sftRow(thread: Thread, style: MessageStyle): Row {
  const messages = rowMessages(threadMessages(thread), style)
  const tools = rowTools(thread.tools, style)
  if (!thread.prompt.some(({ role }) => role === 'assistant')) return { messages, ...tools, ...parallelCalls(thread, style) }
  const prompt = rowMessages(thread.prompt, style)
  if (style.dialect === 'trl') return { prompt, completion: messages.slice(prompt.length), ...tools }
  const weighted = messages.map(
    (message, index): Row => (index < prompt.length && message['role'] === 'assistant' ? { ...message, weight: 0 } : message),
  )
  return { messages: weighted, ...tools, ...parallelCalls(thread, style) }
}

/** OpenAI trains calls as they are asked for: the setting goes along. */
export function parallelCalls(thread: Thread, style: MessageStyle): Row {
  const setting = thread.parameters['parallel_tool_calls']
  return style.dialect === 'openai' && typeof setting === 'boolean' ? { parallel_tool_calls: setting } : {}
}
