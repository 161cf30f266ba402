// Whose reasoning is learned from: a model that shows its own words can be followed, a summary that a provider wrote of hidden ones cannot.
import type { Episode, Message, ModelCall } from '@homeground/sdk/trace'

/** The episode with the reasoning that these providers' models answered with. What requests repeat was said by nobody known, and goes without. */
export function withReasoningOf(episode: Episode, providers: readonly string[]): Episode {
  return { ...episode, steps: episode.steps.map((step) => (step.kind === 'model' ? callWith(step, providers) : step)) }
}

function callWith(call: ModelCall, providers: readonly string[]): ModelCall {
  const { request, response } = call
  return {
    ...call,
    request: { ...request, messages: request.messages.map(withoutReasoning) },
    ...(response === undefined || providers.includes(call.provider)
      ? {}
      : { response: { ...response, outputs: response.outputs.map(withoutReasoning) } }),
  }
}

/** The same object where there is none. */
function withoutReasoning(message: Message): Message {
  return message.parts.some((part) => part.type === 'reasoning')
    ? { ...message, parts: message.parts.filter((part) => part.type !== 'reasoning') }
    : message
}
