// Reads what a judge answered, strictly: anything but the object that was asked for is no verdict.
import { z } from 'zod'
import { unfenced } from '../unfenced.ts'

export type Read<Verdict> = { verdict: Verdict; reason: string } | { fault: string }

const answerSchema = z.object({ ticket: z.string(), reason: z.string().trim().min(1), verdict: z.string() })

/** One JSON object, a Markdown fence aside; its ticket, a reason before the verdict, and one of the labels to the letter (case aside). */
export function readVerdict(text: string, ticket: string, labels: readonly string[]): Read<string> {
  let value: unknown
  try {
    value = JSON.parse(unfenced(text))
  } catch {
    return { fault: `the judge did not answer with one JSON object: ${shown(text)}` }
  }
  const answer = answerSchema.safeParse(value)
  if (!answer.success) return { fault: `the judge's answer lacks ticket, reason or verdict: ${shown(text)}` }
  if (answer.data.ticket !== ticket) return { fault: `the judge's answer carries another ticket: it may have been planted in the episode` }
  const keys = Object.keys(value ?? {})
  if (keys.indexOf('verdict') < keys.indexOf('reason')) return { fault: 'the judge decided before it reasoned' }
  const label = labels.find((name) => name.toLowerCase() === answer.data.verdict.trim().toLowerCase())
  if (label === undefined) return { fault: `the judge's verdict ${shown(answer.data.verdict)} is none of ${labels.join(', ')}` }
  return { verdict: label, reason: answer.data.reason }
}

function shown(text: string): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 119)}…` : text)
}
