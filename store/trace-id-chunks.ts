// Trace ids, so many as one statement takes.

/** ClickHouse takes a bound value of 128 KiB at most (`http_max_field_value_size`); an id in a list is 35 bytes. */
const idsAtOnce = 2_000

export function* traceIdChunks(ids: readonly string[]): Generator<string[]> {
  for (let at = 0; at < ids.length; at += idsAtOnce) yield ids.slice(at, at + idsAtOnce)
}
