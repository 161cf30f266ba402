// How numbers are written in the report: one way each.

/** A score or rate: `0.420`. */
export function score(value: number | null | undefined): string {
  return value === null || value === undefined || Number.isNaN(value) ? '–' : value.toFixed(3)
}

/** A share: `12.5 %`, without decimals from 10 % on where they say nothing. */
export function percent(share: number): string {
  const value = share * 100
  return `${value === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} %`
}

/** US dollars with three figures that count: `$0.0123`, `$4.20`, `$1,234`. */
export function dollars(value: number | undefined): string {
  if (value === undefined) return '–'
  const size = Math.abs(value)
  const text =
    size === 0
      ? '0'
      : size >= 100
        ? Math.round(size).toLocaleString('en-US')
        : size >= 1
          ? size.toFixed(2)
          : Number(size.toPrecision(3)).toString()
  return `${value < 0 ? '-' : ''}$${text}`
}

/** `850 ms`, `12.3 s`, `4 min`. */
export function duration(ms: number): string {
  const size = Math.abs(ms)
  if (size < 1000) return `${Math.round(ms)} ms`
  if (size < 120_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.round(ms / 60_000)} min`
}

/** `1,234`. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** `p < 0.001`, `p = 0.042`. */
export function probability(p: number): string {
  return p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`
}
