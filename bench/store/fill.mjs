// Fills a store for the measurement of queries, inside the engine: traces of 20 spans (an agent, ten model calls that repeat their history, nine tools)
// spread over 90 days, with text that compresses as prose does. A few seconds for 100,000 spans; the writer's own speed is bench:ingest's to measure.
import { randomBytes } from 'node:crypto'

/** Spans of one trace. */
export const perTrace = 20
const newestSeconds = 1_780_000_000
const daysBack = 90

/** The id of the n-th trace, oldest first: as random as any, and known without asking. */
export function traceIdSql(n) {
  return `lower(hex(MD5(concat('trace ', toString(${n})))))`
}

/** `query`: sends a statement. `progress`: told the number of spans that are in. */
export async function fill(query, traces, progress) {
  const step = 5_000
  for (let from = 0; from < traces; from += step) {
    const count = Math.min(step, traces - from)
    await query(insert(from, count, traces))
    progress((from + count) * perTrace)
  }
}

/** 3,000 words, as in prose some of them far more often than others. */
const words = Array.from({ length: 3_000 }, () => `'${randomBytes(2 + Math.floor(Math.random() * 5)).toString('hex')}'`).join(',')

function insert(from, count, traces) {
  // Some 190 characters, the same ones for the same seed.
  const text = (seed) =>
    `arrayStringConcat(arrayMap(w -> words[1 + intDiv((cityHash64(trace, ${seed}, w) % 3000) * (cityHash64(w, trace, ${seed}) % 3000), 3000)], range(20)), ' ')`
  return `INSERT INTO spans (project, trace_id, span_id, parent_span_id, kind, name, start_time, duration_ns, received_at, session, user, agent_name,
    api, provider, model, finish_reasons, input_tokens, output_tokens, attempt, tool_name, effect, source, input_preview, output_preview, bodies)
  WITH [${words}] AS words,
    ${from} + intDiv(number, ${perTrace}) AS trace, number % ${perTrace} AS step,
    step = 0 AS is_agent, step % 2 = 1 AS is_model, step > 0 AND step % 2 = 0 AS is_tool,
    arrayStringConcat(arrayMap(i -> concat('{"role":"user","content":"', ${text('i')}, '"},{"role":"assistant","content":"', ${text('100 + i')}, '"},'), range(intDiv(step, 2)))) AS history
  SELECT 'shop', ${traceIdSql('trace')}, leftPad(lower(hex(cityHash64('span', trace, step))), 16, '0'),
    if(is_agent, '', leftPad(lower(hex(cityHash64('span', trace, 0))), 16, '0')),
    multiIf(is_agent, 'agent', is_model, 'model', 'tool'), multiIf(is_agent, 'invoke_agent desk', is_model, 'chat gpt-4o', 'execute_tool look'),
    addMilliseconds(toDateTime64(${newestSeconds}, 9, 'UTC') - toIntervalSecond(toUInt64((${traces} - trace) / ${traces} * ${daysBack} * 86400)), step * 900),
    if(is_agent, 20000000000, 800000000), now64(6), concat('session-', toString(intDiv(trace, 4))), concat('user-', toString(trace % 5000)), if(is_agent, 'desk', ''),
    if(is_model, 'openai.chat', ''), if(is_model, 'openai', ''), if(is_model, 'gpt-4o', ''), if(is_model, ['stop'], []),
    if(is_model, 900, NULL), if(is_model, 40, NULL), if(is_model, 1, 0), if(is_tool, 'look', ''), if(is_tool, 'read', ''), 'trace',
    if(is_tool, '', left(${text('step')}, 120)), if(is_tool, '', left(${text('100 + step')}, 120)),
    [if(is_model, concat('{"model":"gpt-4o","messages":[{"role":"system","content":"', arrayStringConcat(arraySlice(words, 1, 40), ' '), '"},', history, '{"role":"user","content":"', ${text('intDiv(step, 2)')}, '"}]}'), ''),
     if(is_model, concat('{"model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"', ${text('100 + intDiv(step, 2)')}, '"},"finish_reason":"stop"}]}'), ''),
     if(is_tool, concat('{"q":"', left(${text('200 + step')}, 20), '"}'), ''), if(is_tool, concat('"', ${text('300 + step')}, '"'), ''),
     if(is_agent, concat('"', left(${text('0')}, 60), '"'), ''), if(is_agent, concat('"', ${text('110')}, '"'), ''), '']
  FROM numbers(${count * perTrace})`
}
