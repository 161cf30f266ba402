// OTLP in files, as an importer: one ExportTraceServiceRequest in JSON a line, as the OpenTelemetry Collector's file exporter writes them, or one in a .json file.
import fs from 'node:fs/promises'
import { errorText, HomegroundError, readTextLines } from '@homeground/sdk/trace'
import type { Importer } from '../../store/import/types.ts'
import { decodeJsonLogs } from './logs.ts'
import { rejectionMessage, rowsOf } from './rows-of.ts'
import { decodeJsonTraces } from './traces-json.ts'

export const otlpJson: Importer = {
  format: 'otlp-json',
  summary: 'OpenTelemetry spans, an export request a line',
  async *read(file, settings) {
    // Spans of one trace may stand in several requests: it is counted where it is first seen.
    const seen = new Set<string>()
    for await (const { text, place } of requests(file)) {
      const { rows, feedback: said } = decoded(text, place)
      const feedback = said.map(({ row }) => row)
      const project = settings.project
      const kept =
        project === undefined
          ? { rows, feedback }
          : { rows: rows.map((row) => ({ ...row, project })), feedback: feedback.map((row) => ({ ...row, project })) }
      const before = seen.size
      for (const { project: of, traceId } of kept.rows) seen.add(`${traceId} ${of}`)
      yield { ...kept, episodes: seen.size - before }
    }
  },
}

/** Import is strict where the wire is not: a span that cannot be read is a fault of the file. */
function decoded(text: string, place: string): Pick<ReturnType<typeof rowsOf>, 'rows' | 'feedback'> {
  let read: ReturnType<typeof rowsOf>
  try {
    const spans = rowsOf(decodeJsonTraces(text))
    // The Collector's file exporter writes every signal that it is given.
    const logs = decodeJsonLogs(/"resource_?logs"/i.test(text) ? text : '{}')
    read = {
      rows: [...spans.rows, ...logs.rows],
      feedback: [...spans.feedback, ...logs.feedback],
      rejected: [...spans.rejected, ...logs.rejected],
    }
  } catch (cause) {
    const fault = errorText(cause)
    throw new HomegroundError('invalid-input', `${place}: not an export request: ${fault}`, {
      hint: 'the file must hold OTLP in JSON: {"resourceSpans": […]}, one request a line',
      cause,
    })
  }
  if (read.rejected.length === 0) return read
  throw new HomegroundError('invalid-input', `${place}: ${rejectionMessage(read.rejected)}`, { hint: 'mend or remove those spans' })
}

async function* requests(file: string): AsyncGenerator<{ text: string; place: string }> {
  if (file.endsWith('.json')) {
    const text = await fs.readFile(file, 'utf8').catch((cause: unknown) => {
      throw new HomegroundError('not-found', `${file} cannot be read`, {
        hint: 'check the path; it is relative to the current folder',
        cause,
      })
    })
    // Some editors write a byte order mark, which is no JSON.
    yield { text: text.replace(/^\ufeff/, ''), place: file }
    return
  }
  for await (const { text, line } of readTextLines(file)) if (text.trim() !== '') yield { text, place: `${file}:${line}` }
}
