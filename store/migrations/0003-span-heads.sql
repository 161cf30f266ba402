-- What lists need of a span, apart from its bodies: 50 traces lie at 50 places of `spans`, whose granules are large, since its rows are.

-- Small granules, one file a part and no partitions: a trace is found with few rows read, however many months there are. Rows that are too old go in merges.
-- As small as a list allows: 40 bits tell the spans of one trace apart, times are milliseconds, and a preview is kept where a list shows it, of agents;
-- those of a trace without an agent are read from `spans`.
CREATE TABLE IF NOT EXISTS span_heads
(
    project LowCardinality(String) CODEC(ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    span UInt64 CODEC(ZSTD(1)),
    parent UInt64 CODEC(ZSTD(1)),
    kind Enum8('other' = 0, 'model' = 1, 'tool' = 2, 'io' = 3, 'agent' = 4) CODEC(ZSTD(1)),
    start_ms Int64 CODEC(Delta(8), ZSTD(1)),
    duration_ms UInt64 CODEC(ZSTD(1)),
    received_at DateTime64(6, 'UTC') CODEC(ZSTD(1)),
    session String CODEC(ZSTD(1)),
    user String CODEC(ZSTD(1)),
    agent_name LowCardinality(String) CODEC(ZSTD(1)),
    tags Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    error_type LowCardinality(String) CODEC(ZSTD(1)),
    model LowCardinality(String) CODEC(ZSTD(1)),
    response_model LowCardinality(String) CODEC(ZSTD(1)),
    input_tokens Nullable(UInt64) CODEC(ZSTD(1)),
    output_tokens Nullable(UInt64) CODEC(ZSTD(1)),
    attempt UInt16 CODEC(ZSTD(1)),
    tool_name LowCardinality(String) CODEC(ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(1)),
    run String CODEC(ZSTD(1)),
    input_preview String CODEC(ZSTD(3)),
    output_preview String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(received_at)
ORDER BY (project, trace_id, span)
-- Merged soon once it is quiet, as `spans` is: what repeats is then stored once.
SETTINGS index_granularity = 512, min_bytes_for_wide_part = 1000000000000, min_age_to_force_merge_seconds = 120, min_age_to_force_merge_on_partition_only = 1,
         max_bytes_to_merge_at_max_space_in_pool = 4294967296;

CREATE MATERIALIZED VIEW IF NOT EXISTS span_heads_from_spans TO span_heads AS
SELECT project, trace_id, bitAnd(cityHash64(span_id), 0xFFFFFFFFFF) AS span, if(parent_span_id = '', 0, bitAnd(cityHash64(parent_span_id), 0xFFFFFFFFFF)) AS parent, kind,
       toUnixTimestamp64Milli(spans.start_time) AS start_ms, intDiv(duration_ns, 1000000) AS duration_ms, received_at, session, user, agent_name, tags, error_type, model, response_model,
       input_tokens, output_tokens, attempt, tool_name, source, run,
       if(kind != 'agent', '', if(lengthUTF8(spans.input_preview) <= 80, spans.input_preview, concat(leftUTF8(spans.input_preview, 79), '…'))) AS input_preview,
       if(kind != 'agent', '', if(lengthUTF8(spans.output_preview) <= 80, spans.output_preview, concat(leftUTF8(spans.output_preview, 79), '…'))) AS output_preview
FROM spans;

-- The rows that are there already. What is inserted meanwhile may come twice, and replaces itself.
INSERT INTO span_heads
SELECT project, trace_id, bitAnd(cityHash64(span_id), 0xFFFFFFFFFF) AS span, if(parent_span_id = '', 0, bitAnd(cityHash64(parent_span_id), 0xFFFFFFFFFF)) AS parent, kind,
       toUnixTimestamp64Milli(spans.start_time) AS start_ms, intDiv(duration_ns, 1000000) AS duration_ms, received_at, session, user, agent_name, tags, error_type, model, response_model,
       input_tokens, output_tokens, attempt, tool_name, source, run,
       if(kind != 'agent', '', if(lengthUTF8(spans.input_preview) <= 80, spans.input_preview, concat(leftUTF8(spans.input_preview, 79), '…'))) AS input_preview,
       if(kind != 'agent', '', if(lengthUTF8(spans.output_preview) <= 80, spans.output_preview, concat(leftUTF8(spans.output_preview, 79), '…'))) AS output_preview
FROM spans;

-- The long window of `bodies` costs 30 ms an insert, however small the insert is, and as much again at every merge. Parts that are younger than a minute and a half
-- are written in the quick default codec; a merge of older ones writes the long window, once. `setRetention` keeps this clause.
ALTER TABLE spans MODIFY COLUMN bodies REMOVE CODEC;

ALTER TABLE spans MODIFY SETTING merge_with_recompression_ttl_timeout = 300;

ALTER TABLE spans MODIFY TTL toDateTime(received_at) + INTERVAL 90 SECOND RECOMPRESS CODEC(ZSTD(3, 24));

-- Clocks tick in microseconds at best, more often in milliseconds: what all values share need not be stored.
ALTER TABLE spans
    MODIFY COLUMN start_time DateTime64(9, 'UTC') CODEC(GCD, Delta(8), ZSTD(1)),
    MODIFY COLUMN duration_ns UInt64 CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN input_preview String CODEC(ZSTD(3)),
    MODIFY COLUMN output_preview String CODEC(ZSTD(3));
