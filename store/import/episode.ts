// Homeground's own episode files: one episode a line, messages as differences (docs/formats.md).
import { expandEpisodeLine, feedbackRowsOfEpisode, HomegroundError, rowsOfEpisode } from '@homeground/sdk/trace'
import { readRecords } from './read-records.ts'
import type { Importer } from './types.ts'

export const episode: Importer = {
  format: 'episode',
  summary: "Homeground's own episodes, one a line",
  async *read(file, settings) {
    for await (const { value, place } of readRecords(file)) {
      const read = expandEpisodeLine(value, place)
      const kept = settings.project === undefined ? read : { ...read, project: settings.project }
      const rows = rowsOfEpisode(kept)
      if (rows.length === 0)
        throw new HomegroundError('invalid-input', `${place}: an episode without a step and without an agent holds nothing to store`, {
          hint: 'take that line out',
        })
      yield { rows, feedback: feedbackRowsOfEpisode(kept) }
    }
  },
}
