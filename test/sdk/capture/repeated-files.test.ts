import { createHash } from 'node:crypto'
import { homeground } from '@homeground/sdk'
import { MemoryExporter, startModelServer } from '@homeground/sdk/testing'
import { assembleEpisodes, emptyRow, normaliseSpan, type SpanRecord } from '@homeground/sdk/trace'
import { describe, expect, it } from 'vitest'
import { expandFiles } from '../../../sdk/trace/expand-files.ts'

const image = Buffer.alloc(20_000, 'some image')
const url = `data:image/png;base64,${image.toString('base64')}`
const digest = `bytes=20000;sha256=${createHash('sha256').update(image).digest('hex')}`
const ask = (text: string) => ({
  role: 'user',
  content: [
    { type: 'text', text },
    { type: 'image_url', image_url: { url } },
  ],
})

/** Two calls in each of `runs` runs, the second with the first one's history. */
async function recorded(runs: number): Promise<readonly SpanRecord[]> {
  await using server = await startModelServer({ policy: () => 'A cat.' })
  const exporter = new MemoryExporter()
  const hg = homeground({ project: 'test', exporter })
  const call = async (messages: object[]) =>
    await (await hg.fetch(`${server.url}/chat/completions`, { method: 'POST', body: JSON.stringify({ model: 'm', messages }) })).json()
  const agent = hg.agent('eyes', async () => {
    await call([ask('What is this?')])
    await call([ask('What is this?'), { role: 'assistant', content: 'A cat.' }, ask('And this?')])
  })
  for (let run = 0; run < runs; run += 1) await agent()
  await hg.shutdown()
  return exporter.spans
}

const bodies = (spans: readonly SpanRecord[]) =>
  spans.map(({ attributes }) => attributes['homeground.request.body']).filter((body) => body !== undefined)

describe('an image that several calls of a run send', () => {
  it('is put back as often as there is room: a request may name it any number of times', () => {
    const named = { ...emptyRow(), requestBody: JSON.stringify(Array(1_000).fill(`data:image/png;${digest}`)) }
    const rows = expandFiles([{ ...emptyRow(), requestBody: JSON.stringify(url) }, named], 10 * url.length)
    const whole = rows.flatMap(({ requestBody }) => requestBody.split(url).slice(1))
    expect(whole).toHaveLength(11)
  })

  it('leaves the process once a run, later ones as its digest', async () => {
    const [first, second, third] = bodies(await recorded(2)).map(String)
    expect(first).toContain(url)
    expect(second).not.toContain(url)
    expect(second?.split(`"data:image/png;${digest}"`)).toHaveLength(3)
    expect(third).toContain(url)
  })

  it('is whole again in every call of the episode', async () => {
    const [episode] = assembleEpisodes(
      (await recorded(1)).map((span) => normaliseSpan(span)),
      [],
    )
    const parts = episode?.steps.flatMap((step) => (step.kind === 'model' ? step.request.messages.flatMap((message) => message.parts) : []))
    expect(parts?.filter(({ type }) => type !== 'text')).toEqual(
      Array.from({ length: 3 }, () => ({ type: 'blob', modality: 'image', mime_type: 'image/png', content: image.toString('base64') })),
    )
  })

  it('stays a digest where no call has it', async () => {
    const spans = await recorded(1)
    const [episode] = assembleEpisodes(
      spans.filter((_, index) => index !== 0).map((span) => normaliseSpan(span)),
      [],
    )
    const [step] = episode?.steps ?? []
    expect(step?.kind === 'model' ? step.request.messages[0]?.parts[1] : step).toEqual({
      type: 'uri',
      modality: 'image',
      uri: `data:image/png;${digest}`,
    })
  })
})
