// Refuses a tool that could not be called, or whose effect nobody knows: where it is made, which is where the product starts, not in somebody's conversation.
import type { Effect } from '../trace/episode.ts'
import { HomegroundError } from '../trace/error.ts'

const effects: readonly Effect[] = ['none', 'read', 'write', 'unknown']

/** @throws HomegroundError invalid-argument: products in JavaScript get past the types */
export function checkTool({ name, effect, execute }: { name: unknown; effect?: unknown; execute: unknown }): void {
  if (typeof name !== 'string' || name === '') {
    throw new HomegroundError('invalid-argument', `a tool has no name: \`name\` is ${name === '' ? 'empty' : `of type ${typeof name}`}`, {
      hint: "Give it the name that the model calls it by: hg.tool({ name: 'find_order', … }).",
    })
  }
  if (typeof execute !== 'function') {
    throw new HomegroundError('invalid-argument', `tool ${name}: \`execute\` is of type ${typeof execute}, not a function`, {
      hint: 'Give it the function that does the work: execute: async (args) => ….',
    })
  }
  if (effect === undefined || effect === null || effects.some((each) => each === effect)) return
  throw new HomegroundError(
    'invalid-argument',
    `tool ${name}: \`effect\` is ${typeof effect === 'string' ? `'${effect}'` : `of type ${typeof effect}`}; it may be ${effects.join(', ')}`,
    {
      hint: 'Say what it does to the world: none computes, read looks, write changes. Left out it is unknown, which counts as write.',
    },
  )
}
