// A chat message as it stands in a file: checked, but left as the object that it is, since a parser that builds a new one would change the order of its keys.
import type { Json } from '@homeground/sdk/trace'
import { z } from 'zod'

export const chatMessage = z.custom<{ [key: string]: Json }>(
  (value) => typeof value === 'object' && value !== null && 'role' in value && typeof value.role === 'string' && value.role !== '',
  'expected a chat message { role, content }',
)
