// Where a call had several outputs (n > 1): which of them the run went on with, told by the messages of the calls after it.
import { canonicalJson } from './canonical-json.ts'
import type { Json, Message, ModelCall, Step } from './episode.ts'

/** `steps` in order. A call that went on with its first output, or of which nothing more is known, says nothing. */
export function withChosenOutputs(steps: readonly Step[]): Step[] {
  return steps.map((step, index) => {
    if (step.kind !== 'model' || (step.response?.outputs.length ?? 0) < 2) return step
    const chosen = chosenOf(step, steps.slice(index + 1))
    return chosen > 0 ? { ...step, chosen } : step
  })
}

function chosenOf(call: ModelCall, later: readonly Step[]): number {
  const texts = (call.response?.outputs ?? []).map(messageText)
  for (const step of later) {
    const next = step.kind === 'model' ? step.request.messages[call.request.messages.length] : undefined
    const chosen = next === undefined ? -1 : texts.indexOf(messageText(next))
    if (chosen >= 0) return chosen
  }
  return 0
}

/** What was said, without what the provider added. */
function messageText({ role, parts }: Message): string {
  // Parts hold JSON only: they were read from bodies.
  return canonicalJson([role, parts.map(({ provider: _, ...part }) => part)] as Json)
}
