// An endpoint without a network and without a wait: answers a chat completion request with what the recording of that conversation says.
import { dialectOf } from '@homeground/sdk/trace'

/**
 * A conversation is known by the text of its messages, so that the endpoint need not parse what it is sent: the time measured is the product's. Of two trials that
 * part after the same beginning, one has its answer given to both; `unknown` counts the requests that no recording holds.
 */
export function scriptedEndpoint(episodes, model) {
  const chat = dialectOf('openai.chat')
  const answers = new Map()
  for (const episode of episodes) {
    for (const step of episode.steps) {
      if (step.kind !== 'model') continue
      // The benchmark's own recorder put the tool's name on its results, as the wire once had it; a loop does not.
      const messages = step.request.messages.map(({ name, ...message }) =>
        message.role === 'tool' ? message : { ...message, ...(name && { name }) },
      )
      const body = chat.writeRequest({ model, ...step.request, messages })
      answers.set(keyOf(JSON.stringify(body)), JSON.stringify(chat.writeResponse(step.response, { model: step.model })))
    }
  }
  const headers = new Headers({ 'content-type': 'application/json' })
  const goodbye = JSON.stringify({
    choices: [{ index: 0, message: { role: 'assistant', content: 'I cannot say.' }, finish_reason: 'stop' }],
  })
  const seen = { calls: 0, unknown: 0 }
  return {
    seen,
    fetch: async (_url, { body }) => {
      seen.calls += 1
      const answer = answers.get(keyOf(body))
      if (answer === undefined) seen.unknown += 1
      return { status: 200, headers, text: async () => answer ?? goodbye }
    },
  }
}

function keyOf(text) {
  return text.slice(0, text.lastIndexOf('"tools":['))
}
