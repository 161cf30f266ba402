// Takes every export of every peer and of ours, and answers at once. Prints its port.
import http from 'node:http'

const server = http.createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(request.url.includes('info') ? JSON.stringify({ version: '0.12.0', batch_ingest_config: {} }) : '{}')
  })
})
// On a busy machine a connection may rest longer than Node's 5 s, and closing it as it is used again breaks a call.
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
