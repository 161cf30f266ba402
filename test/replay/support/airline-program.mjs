// The recorded airline episodes' agent as a program without the SDK: policy and customer's messages on stdin, model and tools over HTTP.
import http from 'node:http'

let given = ''
for await (const chunk of process.stdin.setEncoding('utf8')) given += chunk
const { policy, said } = JSON.parse(given)
const { OPENAI_BASE_URL, OPENAI_API_KEY, HOMEGROUND_GATEWAY_URL, HOMEGROUND_MODEL } = process.env

// Not fetch, which takes longer to load than all the rest.
function post(url, body) {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${OPENAI_API_KEY}` }
    const request = http.request(url, { method: 'POST', headers }, async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      resolve(JSON.parse(text))
    })
    request.on('error', reject).end(JSON.stringify(body))
  })
}

const messages = [{ role: 'system', content: policy }]
let calls = 0
customer: for (const content of said) {
  messages.push({ role: 'user', content })
  for (;;) {
    // The benchmark's limit.
    if (calls === 30) break customer
    calls += 1
    const { choices, error } = await post(`${OPENAI_BASE_URL}/chat/completions`, { model: HOMEGROUND_MODEL, messages })
    if (error) throw new Error(error.message)
    const { message } = choices[0]
    messages.push(message)
    if (!message.tool_calls?.length) break
    for (const { id, function: called } of message.tool_calls) {
      const served = await post(`${HOMEGROUND_GATEWAY_URL}/tools/${called.name}`, { arguments: JSON.parse(called.arguments), callId: id })
      const result = served.error ? `Error: ${served.error.message}` : served.result
      // The benchmark's agent named the tool on its result.
      messages.push({
        role: 'tool',
        tool_call_id: id,
        content: typeof result === 'string' ? result : JSON.stringify(result),
        name: called.name,
      })
    }
    // A colleague goes on.
    if (message.tool_calls.some((call) => call.function.name === 'transfer_to_human_agents')) break customer
  }
}
