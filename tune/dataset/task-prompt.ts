// What a task begins with, as chat messages: for formats that train on prompts, and for those that show a task to somebody else's runner.
import { messageSchema, parseInput } from '@homeground/sdk/trace'
import { z } from 'zod'
import type { Task } from '../../replay/environment/types.ts'
import { type MessageStyle, type Row, rowMessages } from '../formats/messages.ts'

const messagesSchema = z.array(messageSchema)

/** The messages that are served before the model's first turn; of a task without messages, the agent's input as a user's. @throws HomegroundError environment-invalid */
export function taskPrompt(task: Task, style: MessageStyle): Row[] {
  if (task.messages === undefined)
    return [{ role: 'user', content: typeof task.input === 'string' ? task.input : JSON.stringify(task.input ?? null) }]
  const messages = parseInput(messagesSchema, task.messages, {
    place: `task ${task.id}`,
    what: 'a list of messages',
    code: 'environment-invalid',
  })
  return rowMessages(messages.slice(0, task.turns?.[0] ?? messages.length), style)
}
