// The support desk's traffic, recorded once: its scripted customers served by its scripted model, read from memory as episodes.
import { assembleEpisodes, type Episode, type FeedbackRow, normaliseSpan } from '@homeground/sdk/trace'
import { startDeskModels } from '../../../examples/support-desk/offline/models.ts'
import { createServer } from '../../../examples/support-desk/server.ts'
import { drive } from '../../../examples/support-desk/traffic/drive.ts'
import { customerSessions } from '../../../examples/support-desk/traffic/sessions.ts'
import { answer, client, exporter, hg, sessions, shop } from './desk.ts'

export async function recordDesk(): Promise<Episode[]> {
  const models = await startDeskModels({ port: 0 })
  client.baseURL = models.url
  const server = createServer({ hg, shop, sessions, answer }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await drive(customerSessions(), { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}` })
  server.closeAllConnections()
  server.close()
  await models.close()
  await hg.flush()
  const feedback = exporter.feedback.map((said): FeedbackRow => ({ stepId: '', comment: '', ...said }) as FeedbackRow)
  return assembleEpisodes(exporter.spans.map(normaliseSpan), feedback)
}
