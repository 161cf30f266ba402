// Homeground's own episode files: one episode a line, messages as differences (docs/formats.md).
import { expandEpisodeLine, feedbackRowsOfEpisode, rowsOfEpisode } from '@homeground/sdk/trace'
import { readRecords } from './read-records.ts'
import type { Importer } from './types.ts'

export const episode: Importer = {
  format: 'episode',
  summary: "Homeground's own episodes, one a line",
  async *read(file, settings) {
    for await (const { value, place } of readRecords(file)) {
      const read = expandEpisodeLine(value, place)
      const kept = settings.project === undefined ? read : { ...read, project: settings.project }
      yield { rows: rowsOfEpisode(kept), feedback: feedbackRowsOfEpisode(kept) }
    }
  },
}
