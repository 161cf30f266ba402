// Rows of preference training: the history that two attempts share, and the one message of each where they part.
import type { Message } from '@homeground/sdk/trace'
import type { Thread } from '../dataset/threads.ts'
import { type MessageStyle, type Row, rowMessage, rowMessages, rowTools } from './messages.ts'
import { parallelCalls } from './sft.ts'

export interface PreferencePair {
  /** The better attempt's own words, call ids included. */
  history: Message[]
  chosen: Message
  rejected: Message
  /** Of the better attempt. */
  thread: Thread
}

export function preferenceRow({ history, chosen, rejected, thread }: PreferencePair, style: MessageStyle): Row {
  const prompt = rowMessages(history, style)
  const tools = rowTools(thread.tools, style)
  const better = [rowMessage(chosen, style)]
  const worse = [rowMessage(rejected, style)]
  if (style.dialect === 'trl') return { prompt, chosen: better, rejected: worse, ...tools }
  return { input: { messages: prompt, ...tools, ...parallelCalls(thread, style) }, preferred_output: better, non_preferred_output: worse }
}

/** A single answer, good or bad: the thread's last turn. */
export function answerRow(thread: Thread, good: boolean, style: MessageStyle): Row {
  const earlier = thread.turns.slice(0, -1).flatMap(({ output, after }) => [output, ...after])
  const last = thread.turns.at(-1)
  const completion = last === undefined ? [] : [rowMessage(last.output, style)]
  return { prompt: rowMessages([...thread.prompt, ...earlier], style), completion, label: good, ...rowTools(thread.tools, style) }
}
