// A model server in a process of its own: plain JSON, or a stream of 200 separate writes whose chunks vary in length (`obfuscation`), the last of them
// tool-call deltas. Prints its port.
import http from 'node:http'

const head = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o', service_tier: 'default' }
const chunk = (delta, i) =>
  Buffer.from(
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: i === 199 ? 'tool_calls' : null }], usage: null, obfuscation: 'x'.repeat(1 + ((i * 7) % 9)) })}\n\n`,
  )
const deltaOf = (i) => {
  if (i === 0) return { role: 'assistant', content: '' }
  if (i < 180) return { content: 'word ' }
  if (i === 180) return { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'search', arguments: '' } }] }
  return { tool_calls: [{ index: 0, function: { arguments: 'ab' } }] }
}
const chunks = [...Array.from({ length: 200 }, (_, i) => chunk(deltaOf(i), i)), Buffer.from('data: [DONE]\n\n')]
const plain = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o',
  choices: [{ index: 0, message: { role: 'assistant', content: 'word '.repeat(200) }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 300, completion_tokens: 200, total_tokens: 500 },
})

const server = http.createServer((request, response) => {
  const parts = []
  request.on('data', (part) => parts.push(part))
  request.on('end', () => {
    if (!Buffer.concat(parts).includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(plain)
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.socket.setNoDelay(true)
    let i = 0
    const next = () => {
      if (i >= chunks.length) response.end()
      else {
        response.write(chunks[i++])
        setTimeout(next, 0)
      }
    }
    next()
  })
})
// On a busy machine a connection may rest longer than Node's 5 s, and closing it as it is used again breaks a call.
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
