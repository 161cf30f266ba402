-- Spans: raw bodies as the truth, typed columns for questions, previews for lists.

-- The key has no time in it: a span sent again replaces the earlier one even when its start has changed, the one received last wins.
-- Partitions are months of the start, clamped, so that a client with a broken clock cannot make thousands of them.
-- `bodies` is one column on purpose: an answer is repeated in the next call's request, a tool's result too, a response's id stands in its body, and one
-- long window (2^24 bytes) over rows sorted by trace sees them all. Blocks of 16 MiB make that window worth having; lists never touch the column.
CREATE TABLE IF NOT EXISTS spans
(
    project LowCardinality(String),
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    parent_span_id String CODEC(ZSTD(1)),
    kind Enum8('other' = 0, 'model' = 1, 'tool' = 2, 'io' = 3, 'agent' = 4),
    name LowCardinality(String),
    start_time DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    duration_ns UInt64 CODEC(ZSTD(1)),
    received_at DateTime64(6, 'UTC') CODEC(ZSTD(1)),
    session String CODEC(ZSTD(1)),
    user String CODEC(ZSTD(1)),
    agent_name LowCardinality(String),
    agent_version LowCardinality(String),
    tags Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    variants Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    error_type LowCardinality(String),
    error_message String CODEC(ZSTD(1)),
    api LowCardinality(String),
    provider LowCardinality(String),
    model LowCardinality(String),
    response_model LowCardinality(String),
    finish_reasons Array(LowCardinality(String)) CODEC(ZSTD(1)),
    input_tokens Nullable(UInt64) CODEC(ZSTD(1)),
    output_tokens Nullable(UInt64) CODEC(ZSTD(1)),
    cache_read_tokens Nullable(UInt64) CODEC(ZSTD(1)),
    cache_write_tokens Nullable(UInt64) CODEC(ZSTD(1)),
    reasoning_tokens Nullable(UInt64) CODEC(ZSTD(1)),
    first_chunk_ms Nullable(Float64) CODEC(ZSTD(1)),
    attempt UInt16 CODEC(ZSTD(1)),
    partial Bool CODEC(ZSTD(1)),
    tool_name LowCardinality(String),
    call_id String CODEC(ZSTD(1)),
    effect LowCardinality(String),
    off_tape LowCardinality(String),
    source LowCardinality(String),
    source_ref String CODEC(ZSTD(1)),
    run String CODEC(ZSTD(1)),
    arm LowCardinality(String),
    task String CODEC(ZSTD(1)),
    repeat Int32 CODEC(ZSTD(1)),
    flags Array(LowCardinality(String)) CODEC(ZSTD(1)),
    attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    resource Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    input_preview String CODEC(ZSTD(1)),
    output_preview String CODEC(ZSTD(1)),
    -- request body, response body, arguments, result, input, output, response id
    bodies Array(String) CODEC(ZSTD(3, 24)) SETTINGS (min_compress_block_size = 16777216, max_compress_block_size = 16777216),
    request_body String ALIAS bodies[1],
    response_body String ALIAS bodies[2],
    arguments String ALIAS bodies[3],
    result String ALIAS bodies[4],
    input String ALIAS bodies[5],
    output String ALIAS bodies[6],
    response_id String ALIAS bodies[7],
    end_time DateTime64(9, 'UTC') ALIAS fromUnixTimestamp64Nano(toUnixTimestamp64Nano(start_time) + toInt64(duration_ns)),
    INDEX by_session session TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_user user TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_run run TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(received_at)
PARTITION BY toYYYYMM(least(greatest(start_time, toDateTime64('2020-01-01 00:00:00', 9, 'UTC')), toDateTime64('2100-01-01 00:00:00', 9, 'UTC')))
ORDER BY (project, trace_id, span_id)
-- A month that has been quiet for two minutes is merged into one part: what repeats is then stored once. Parts of 4 GiB are left as they are.
SETTINGS min_age_to_force_merge_seconds = 120, min_age_to_force_merge_on_partition_only = 1, max_bytes_to_merge_at_max_space_in_pool = 4294967296;

-- Feedback is idempotent by its key: the one received last wins.
CREATE TABLE IF NOT EXISTS feedback
(
    project LowCardinality(String),
    trace_id String CODEC(ZSTD(1)),
    step_id String CODEC(ZSTD(1)),
    name LowCardinality(String),
    source LowCardinality(String),
    received_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    value_type Enum8('number' = 1, 'boolean' = 2, 'string' = 3),
    value_number Float64 CODEC(ZSTD(1)),
    value_text String CODEC(ZSTD(1)),
    comment String CODEC(ZSTD(1)),
    at DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1))
)
ENGINE = ReplacingMergeTree(received_at)
ORDER BY (project, trace_id, step_id, name, source);

-- Which traces began on which day, so that the newest are found without reading the spans of all. A hint: what a span sent again has changed is read from `spans`.
CREATE TABLE IF NOT EXISTS trace_days
(
    project LowCardinality(String),
    day Date CODEC(ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    start_time SimpleAggregateFunction(min, DateTime64(9, 'UTC')) CODEC(Delta(8), ZSTD(1))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(least(greatest(day, toDate('2020-01-01')), toDate('2100-01-01')))
ORDER BY (project, day, trace_id);

CREATE MATERIALIZED VIEW IF NOT EXISTS trace_days_from_spans TO trace_days AS
SELECT project, toDate(spans.start_time) AS day, trace_id, min(spans.start_time) AS start_time
FROM spans
GROUP BY project, day, trace_id;
