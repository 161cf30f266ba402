// A chat message as it stands in a file: checked, but left as the object that it is, since a parser that builds a new one would change the order of its keys.
import type { Json } from '@homeground/sdk/trace'
import { z } from 'zod'

// Tables that were written by Arrow say null for what is absent.
const content = z
  .union([z.string(), z.array(z.looseObject({ type: z.string() }))], 'expected text, a list of parts with a type, or null')
  .nullish()
const toolCalls = z
  .array(
    z.looseObject({
      id: z.string().nullish(),
      function: z.looseObject({ name: z.string().min(1), arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish() }),
    }),
  )
  .nullish()
const checked = { content, tool_calls: toolCalls }

export const chatMessage = z
  .custom<{ [key: string]: Json }>(
    (value) => typeof value === 'object' && value !== null && 'role' in value && typeof value.role === 'string' && value.role !== '',
    'expected a chat message { role, content }',
  )
  .superRefine((message, context) => {
    for (const [name, schema] of Object.entries(checked))
      for (const { path, message: problem } of schema.safeParse(message[name]).error?.issues ?? [])
        context.addIssue({ code: 'custom', path: [name, ...path], message: problem })
  })
