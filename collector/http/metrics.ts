// Metrics in Prometheus' text format. Whoever has numbers gives them as `Metric`s; nothing here remembers any.

export interface Metric {
  /** `homeground_…`, with the unit at its end; a counter's ends in `_total`. */
  name: string
  help: string
  type: 'counter' | 'gauge'
  samples: readonly { labels?: Readonly<Record<string, string>>; value: number }[]
}

/** The text of GET /metrics. */
export function metricsText(metrics: readonly Metric[]): string {
  return metrics
    .map(
      ({ name, help, type, samples }) =>
        `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.map((sample) => line(name, sample)).join('')}`,
    )
    .join('')
}

function line(name: string, { labels = {}, value }: Metric['samples'][number]): string {
  const pairs = Object.entries(labels).map(
    ([label, text]) => `${label}="${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`,
  )
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`
}
