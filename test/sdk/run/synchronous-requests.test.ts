import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SynchronousRequests } from '../../../sdk/run/synchronous-requests.ts'

/** On a thread of its own, as ours sleeps while it waits. `/late` is answered when something else is asked for, just before that. */
const program = `
  const { parentPort } = require('node:worker_threads')
  const { createServer } = require('node:http')
  let late
  const server = createServer((request, response) => {
    if (request.url === '/late') return void (late = response)
    const answer = () => response.end(JSON.stringify({ path: request.url }))
    if (late === undefined) return answer()
    late.end('{"path":"/late"}', () => setTimeout(answer, 20))
    late = undefined
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage('http://127.0.0.1:' + server.address().port))`
let server: Worker
let url = ''
beforeEach(async () => {
  server = new Worker(program, { eval: true })
  ;[url] = await once(server, 'message')
})
afterEach(() => server.terminate())

it('waits for the answer', () => {
  const requests = new SynchronousRequests()
  expect(requests.request(`${url}/a`, 'k', '{}')).toEqual({ path: '/a' })
  expect(requests.request(`${url}/b`, 'k', '{}')).toEqual({ path: '/b' })
  expect(requests.request('http://127.0.0.1:9/c', 'k', '{}')).toMatchObject({ error: { name: 'Error' } })
})

it('does not take the late answer to a question that it gave up on for the answer to the next one', () => {
  const requests = new SynchronousRequests(2_000)
  expect(requests.request(`${url}/late`, 'k', '{}')).toEqual({ error: { name: 'Error', message: 'no answer within 2 s' } })
  expect(requests.request(`${url}/next`, 'k', '{}')).toEqual({ path: '/next' })
})
