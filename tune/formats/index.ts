// The formats of training rows, by name.
import { HomegroundError } from '@homeground/sdk/trace'

/** What a format is made of: single episodes, pairs of two, single answers, or tasks with the scores of their groups. */
export type FormatKind = 'episodes' | 'pairs' | 'answers' | 'groups'

export const formats = {
  'trl-sft': { kind: 'episodes', dialect: 'trl', summary: 'supervised fine-tuning with TRL' },
  'trl-tokens': { kind: 'episodes', dialect: 'trl', summary: 'supervised fine-tuning on the very token ids that were sampled' },
  'openai-sft': { kind: 'episodes', dialect: 'openai', summary: "OpenAI's supervised fine-tuning (Together and others take it too)" },
  'trl-dpo': { kind: 'pairs', dialect: 'trl', summary: 'preference pairs with TRL' },
  'openai-dpo': { kind: 'pairs', dialect: 'openai', summary: "OpenAI's preference fine-tuning" },
  'trl-kto': { kind: 'answers', dialect: 'trl', summary: 'single answers, good or bad, with TRL' },
  'trl-grpo': { kind: 'groups', dialect: 'trl', summary: 'prompts for reinforcement learning with TRL' },
} as const satisfies Record<string, { kind: FormatKind; dialect: 'trl' | 'openai'; summary: string }>

export type FormatName = keyof typeof formats

/** @param others named in the hint beside those here @throws HomegroundError unknown-format */
export function formatNamed(name: string, others: readonly string[] = []): FormatName {
  if (Object.hasOwn(formats, name)) return name as FormatName
  throw new HomegroundError('unknown-format', `there is no dataset format "${name}"`, {
    hint: `use one of ${[...Object.keys(formats), ...others].join(', ')}`,
  })
}
