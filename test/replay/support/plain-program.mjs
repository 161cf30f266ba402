// A program without the SDK, as any language could write it: task on stdin, model and tools over HTTP, answer on stdout.
const task = JSON.parse(
  await new Promise((resolve) => {
    let text = ''
    process.stdin
      .setEncoding('utf8')
      .on('data', (chunk) => {
        text += chunk
      })
      .on('end', () => resolve(text))
  }),
)
const { OPENAI_BASE_URL, OPENAI_API_KEY, HOMEGROUND_GATEWAY_URL, HOMEGROUND_MCP_URL, HOMEGROUND_MODEL } = process.env
const headers = { 'content-type': 'application/json', authorization: `Bearer ${OPENAI_API_KEY}` }
const post = async (url, body) => {
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return await response.json()
}
const messages = [
  { role: 'system', content: 'You look.' },
  { role: 'user', content: task.ask },
]
for (;;) {
  const { choices, error } = await post(`${OPENAI_BASE_URL}/chat/completions`, { model: HOMEGROUND_MODEL, messages })
  if (error) {
    console.error(error.message)
    process.exit(4)
  }
  const { message } = choices[0]
  messages.push(message)
  if (!message.tool_calls?.length) {
    console.log('a line for people')
    console.log(JSON.stringify({ answer: message.content }))
    break
  }
  for (const call of message.tool_calls) {
    const args = JSON.parse(call.function.arguments)
    if (process.env.WAY === 'mcp') {
      const asked = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: call.function.name, arguments: args } }
      const { result } = await post(HOMEGROUND_MCP_URL, asked)
      messages.push({ role: 'tool', tool_call_id: call.id, content: result.content[0].text })
    } else {
      const served = await post(`${HOMEGROUND_GATEWAY_URL}/tools/${call.function.name}`, { arguments: args, callId: call.id })
      messages.push({ role: 'tool', tool_call_id: call.id, content: served.result ?? `Error: ${served.error.message}` })
    }
  }
}
