// The example product as its customers see it, and as Homeground records it: real HTTP, the real openai client, the scripted models.

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homeground } from '@homeground/sdk'
import { MemoryExporter, type ModelServer, startModelServer } from '@homeground/sdk/testing'
import { assembleEpisodes, type Episode, normaliseSpan } from '@homeground/sdk/trace'
import OpenAI from 'openai'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAgent, handover } from '../../../examples/support-desk/agent.ts'
import { startDeskModels } from '../../../examples/support-desk/offline/models.ts'
import { carefulPrompt, defaultPrompt, systemMessage } from '../../../examples/support-desk/prompt.ts'
import { createServer } from '../../../examples/support-desk/server.ts'
import { createSessions } from '../../../examples/support-desk/sessions.ts'
import { createShop, type Shop } from '../../../examples/support-desk/shop.ts'
import { deskTools } from '../../../examples/support-desk/tools.ts'
import { drive } from '../../../examples/support-desk/traffic/drive.ts'
import { customerSessions, shopData } from '../../../examples/support-desk/traffic/sessions.ts'

const today = '2026-03-02'

interface Desk {
  url: string
  shop: Shop
  /** What was recorded so far. */
  episodes(): Promise<Episode[]>
}

describe('support desk', () => {
  let models: ModelServer
  const open: { close(): Promise<void> }[] = []

  beforeEach(async () => {
    models = await startDeskModels()
    open.push(models)
  })
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close()
  })

  async function startDesk(options: { model?: string; prompt?: string; models?: ModelServer } = {}): Promise<Desk> {
    const exporter = new MemoryExporter()
    const hg = homeground({
      project: 'support-desk',
      exporter,
      ...(options.prompt === undefined ? {} : { variants: { prompt: { value: options.prompt, share: 1 } } }),
    })
    const shop = createShop(shopData(today), { today: () => today })
    const sessions = createSessions()
    const client = hg.wrap(new OpenAI({ baseURL: (options.models ?? models).url, apiKey: 'none', maxRetries: 0 }))
    const answer = createAgent({ hg, client, model: options.model ?? 'desk-expert', shop, sessions })
    const server = await listening(createServer({ hg, shop, sessions, answer }).listen(0, '127.0.0.1'))
    open.push({
      close: async () => {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
        await hg.shutdown()
      },
    })
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      shop,
      episodes: async () => {
        await hg.flush()
        return assembleEpisodes(
          exporter.spans.map(normaliseSpan),
          exporter.feedback.map((each) => ({ stepId: '', comment: '', ...each })),
        )
      },
    }
  }

  it('looks at the order and the policy, refunds, and tells the customer', async () => {
    const desk = await startDesk()
    const { session } = await post(`${desk.url}/sessions`, { customer: 'C-101' })
    const { reply } = await post(`${desk.url}/sessions/${session}/messages`, { text: 'Hello, I would like a refund for order 4001.' })
    expect(reply).toBe('Done: I have refunded EUR 19.00 for the linen curtain (order 4001). It takes up to 5 working days.')
    expect(desk.shop.order('C-101', '4001').status).toBe('refunded')
    const [episode] = await desk.episodes()
    expect(episode?.steps.map((step) => (step.kind === 'model' ? 'model' : `${step.kind} ${step.name}`))).toEqual([
      'io customer',
      'io history',
      'io today',
      'model',
      'tool get_order',
      'tool read_policy',
      'model',
      'tool refund_order',
      'model',
    ])
    expect({ session: episode?.session, user: episode?.user, input: episode?.input, output: episode?.output }).toEqual({
      session,
      user: 'C-101',
      input: { session, customer: 'C-101', message: 'Hello, I would like a refund for order 4001.' },
      output: reply,
    })
  })

  it('remembers what was said earlier in the session', async () => {
    const desk = await startDesk()
    const { session } = await post(`${desk.url}/sessions`, { customer: 'C-103' })
    await post(`${desk.url}/sessions/${session}/messages`, { text: 'Refund order 4007, please.' })
    await post(`${desk.url}/sessions/${session}/messages`, { text: 'But the table lamp arrived broken!' })
    expect(desk.shop.order('C-103', '4007').status).toBe('refunded')
    expect((await get(`${desk.url}/sessions/${session}`))['turns']).toHaveLength(4)
  })

  it('never shows one customer the orders of another', async () => {
    const desk = await startDesk()
    const { session } = await post(`${desk.url}/sessions`, { customer: 'C-101' })
    const { reply } = await post(`${desk.url}/sessions/${session}/messages`, { text: 'I want a refund for order 4010.' })
    expect(reply).toContain('cannot find order 4010')
    expect(desk.shop.order('C-104', '4010').status).toBe('delivered')
  })

  it('hands over to a colleague when the model only ever calls tools', async () => {
    const restless = await startModelServer({ policy: () => ({ content: null, toolCalls: [{ name: 'list_orders', arguments: {} }] }) })
    open.push(restless)
    const desk = await startDesk({ models: restless })
    const { session } = await post(`${desk.url}/sessions`, { customer: 'C-101' })
    const { reply } = await post(`${desk.url}/sessions/${session}/messages`, { text: 'Refund order 4001.' })
    const [episode] = await desk.episodes()
    expect({ reply, asked: restless.requests.length, error: episode?.error }).toEqual({ reply: handover, asked: 8, error: undefined })
  })

  it('records sixty sessions, each answer with its ratings, and the expert does most of them right', async () => {
    const desk = await startDesk()
    const report = await drive(customerSessions(), { url: desk.url })
    expect(report).toEqual({ sessions: 60, turns: 96, helpful: 95, failed: 0 })
    const episodes = await desk.episodes()
    expect(episodes).toHaveLength(96)
    expect(new Set(episodes.map((episode) => episode.session)).size).toBe(60)
    const said = episodes.map((episode) => episode.feedback.map((each) => `${each.source}: ${each.name}`).sort())
    expect(new Set(said.map((each) => each.join(', ')))).toEqual(
      new Set(['quality-team: expected_actions, quality-team: expected_outputs, user: helpful']),
    )
  })

  it('is worse with the novice, and better again when the prompt tells the novice to look first', async () => {
    const novice = await startDesk({ model: 'desk-novice' })
    const told = await startDesk({ model: 'desk-novice', prompt: carefulPrompt })
    const helpful = async (desk: Desk) => (await drive(customerSessions(15), { url: desk.url })).helpful
    expect({ novice: await helpful(novice), told: await helpful(told) }).toEqual({ novice: 12, told: 24 })
  })

  it('refuses what it cannot use with a status and a reason', async () => {
    const desk = await startDesk()
    expect(await status(`${desk.url}/sessions`, { customer: 'C-999' })).toBe(404)
    expect(await status(`${desk.url}/sessions`, { who: 'C-101' })).toBe(400)
    expect(await status(`${desk.url}/sessions/none/messages`, { text: 'hello' })).toBe(404)
    expect(await status(`${desk.url}/sessions`, 'no json')).toBe(400)
  })

  it('answers 502 when its model does not exist, and records the error', async () => {
    const desk = await startDesk({ model: 'desk-oracle' })
    const { session } = await post(`${desk.url}/sessions`, { customer: 'C-101' })
    expect(await status(`${desk.url}/sessions/${session}/messages`, { text: 'hello' })).toBe(502)
    const [episode] = await desk.episodes()
    expect(episode?.steps.filter((step) => step.kind === 'model').map((step) => step.error?.type)).toEqual(['404'])
    expect(episode?.error).toBeDefined()
  })

  it('keeps prompt and tools small enough for a small model: under 700 tokens at 3 characters a token', async () => {
    const hg = homeground({ project: 'support-desk', exporter: new MemoryExporter() })
    deskTools(hg, createShop(shopData(today), { today: () => today }))
    const customer = { id: 'C-101', name: 'Ada Brandt', email: 'ada.brandt@example.com' }
    const text = systemMessage(defaultPrompt, { customer, today }) + JSON.stringify(hg.toolDefinitions())
    expect(text.length).toBeLessThan(2_100)
    await hg.shutdown()
  })
})

async function listening(server: Server): Promise<Server> {
  if (!server.listening) await new Promise<void>((resolve) => server.once('listening', () => resolve()))
  return server
}

async function post(url: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await send(url, body)
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}

async function status(url: string, body: unknown): Promise<number> {
  return (await send(url, body)).status
}

function send(url: string, body: unknown): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text })
}

async function get(url: string): Promise<Record<string, unknown>> {
  return (await (await fetch(url)).json()) as Record<string, unknown>
}
