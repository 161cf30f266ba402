CREATE TABLE IF NOT EXISTS schema_migrations ON CLUSTER 'main' (version UInt32, name String, applied_at DateTime DEFAULT now()) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/all/homeground/schema_migrations', '{shard}-{replica}') ORDER BY version;

CREATE TABLE IF NOT EXISTS spans_local ON CLUSTER 'main'
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
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/homeground/spans_local', '{replica}', received_at)
PARTITION BY toYYYYMM(least(greatest(start_time, toDateTime64('2020-01-01 00:00:00', 9, 'UTC')), toDateTime64('2100-01-01 00:00:00', 9, 'UTC')))
ORDER BY (project, trace_id, span_id)
SETTINGS min_age_to_force_merge_seconds = 120, min_age_to_force_merge_on_partition_only = 1, max_bytes_to_merge_at_max_space_in_pool = 4294967296;

CREATE TABLE IF NOT EXISTS spans ON CLUSTER 'main' AS spans_local ENGINE = Distributed('main', 'homeground', 'spans_local', cityHash64(trace_id));

CREATE TABLE IF NOT EXISTS feedback_local ON CLUSTER 'main'
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
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/homeground/feedback_local', '{replica}', received_at)
ORDER BY (project, trace_id, step_id, name, source);

CREATE TABLE IF NOT EXISTS feedback ON CLUSTER 'main' AS feedback_local ENGINE = Distributed('main', 'homeground', 'feedback_local', cityHash64(trace_id));

CREATE TABLE IF NOT EXISTS trace_days_local ON CLUSTER 'main'
(
    project LowCardinality(String),
    day Date CODEC(ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    start_time SimpleAggregateFunction(min, DateTime64(9, 'UTC')) CODEC(Delta(8), ZSTD(1))
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/homeground/trace_days_local', '{replica}')
PARTITION BY toYYYYMM(least(greatest(day, toDate('2020-01-01')), toDate('2100-01-01')))
ORDER BY (project, day, trace_id);

CREATE TABLE IF NOT EXISTS trace_days ON CLUSTER 'main' AS trace_days_local ENGINE = Distributed('main', 'homeground', 'trace_days_local', cityHash64(trace_id));

CREATE MATERIALIZED VIEW IF NOT EXISTS trace_days_from_spans ON CLUSTER 'main' TO trace_days_local AS
SELECT project, toDate(spans_local.start_time) AS day, trace_id, min(spans_local.start_time) AS start_time
FROM spans_local
GROUP BY project, day, trace_id;

CREATE TABLE IF NOT EXISTS prices ON CLUSTER 'main'
(
    model String,
    input Float64,
    output Float64,
    cache_read Float64,
    cache_write Float64,
    as_of String,
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/all/homeground/prices', '{shard}-{replica}', updated_at)
ORDER BY model;

CREATE TABLE IF NOT EXISTS environments ON CLUSTER 'main'
(
    project LowCardinality(String),
    hash String,
    name String,
    folder String,
    built_at DateTime64(3, 'UTC'),
    trace_ids Array(String) CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/all/homeground/environments', '{shard}-{replica}', built_at)
ORDER BY (project, hash, folder);

CREATE TABLE IF NOT EXISTS retention ON CLUSTER 'main'
(
    project String,
    days UInt32,
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/all/homeground/retention', '{shard}-{replica}', updated_at)
ORDER BY project;

CREATE OR REPLACE VIEW cost_by_model_and_day ON CLUSTER 'main' AS
SELECT
    project,
    toDate(start_time) AS day,
    model_name AS model,
    count() AS calls,
    sum(ifNull(input_tokens, 0)) AS input_tokens_total,
    sum(ifNull(output_tokens, 0)) AS output_tokens_total,
    if(any(price_model) = '', NULL, sum(
        (ifNull(input_tokens, 0) - least(ifNull(input_tokens, 0), ifNull(cache_read_tokens, 0) + ifNull(cache_write_tokens, 0))) * price_input
        + ifNull(cache_read_tokens, 0) * price_cache_read + ifNull(cache_write_tokens, 0) * price_cache_write
        + ifNull(output_tokens, 0) * price_output) / 1e6) AS cost_usd
FROM
(
    SELECT project, start_time, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
           replaceRegexpOne(if(model = '', response_model, model), '-([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8})$', '') AS model_name
    FROM spans FINAL WHERE kind = 'model'
) AS calls
LEFT JOIN
(
    SELECT model AS price_model, input AS price_input, output AS price_output, cache_read AS price_cache_read, cache_write AS price_cache_write
    FROM prices FINAL
) AS price ON price.price_model = calls.model_name
GROUP BY project, day, model_name;

CREATE OR REPLACE VIEW latency_by_model ON CLUSTER 'main' AS
SELECT
    project,
    model,
    count() AS calls,
    quantile(0.5)(duration_ns) / 1e6 AS p50_ms,
    quantile(0.9)(duration_ns) / 1e6 AS p90_ms,
    quantile(0.99)(duration_ns) / 1e6 AS p99_ms,
    quantileIf(0.5)(ifNull(first_chunk_ms, 0), isNotNull(first_chunk_ms)) AS first_chunk_p50_ms
FROM spans FINAL
WHERE kind = 'model'
GROUP BY project, model;

CREATE OR REPLACE VIEW tool_error_rates ON CLUSTER 'main' AS
SELECT
    project,
    tool_name AS tool,
    count() AS calls,
    countIf(error_type != '') AS errors,
    errors / calls AS error_rate
FROM spans FINAL
WHERE kind = 'tool'
GROUP BY project, tool_name;

CREATE OR REPLACE VIEW sessions_with_bad_feedback ON CLUSTER 'main' AS
SELECT
    said.project AS project,
    session,
    count() AS bad_feedback,
    groupUniqArray(said.trace_id) AS traces,
    max(said.at) AS last_at
FROM
(
    SELECT project, trace_id, at FROM feedback FINAL
    WHERE value_type IN ('number', 'boolean') AND value_number < 0.5 OR lower(value_text) IN ('bad', 'fail', 'failed', 'down', 'thumbs_down', 'negative', 'incorrect')
) AS said
INNER JOIN
(
    SELECT project, trace_id, max(session) AS session FROM spans FINAL GROUP BY project, trace_id
) AS traces ON traces.project = said.project AND traces.trace_id = said.trace_id
GROUP BY project, session;

CREATE OR REPLACE VIEW otel_traces ON CLUSTER 'main' AS
SELECT
    start_time AS Timestamp,
    trace_id AS TraceId,
    span_id AS SpanId,
    parent_span_id AS ParentSpanId,
    '' AS TraceState,
    toString(name) AS SpanName,
    if(kind IN ('model', 'tool'), 'Client', 'Internal') AS SpanKind,
    resource['service.name'] AS ServiceName,
    resource AS ResourceAttributes,
    '' AS ScopeName,
    '' AS ScopeVersion,
    mapConcat(attributes, mapFilter((k, v) -> v != '', map(
        'homeground.project', toString(project), 'session.id', session, 'user.id', user, 'gen_ai.agent.name', toString(agent_name), 'gen_ai.provider.name', toString(provider),
        'gen_ai.request.model', toString(model), 'gen_ai.response.model', toString(response_model), 'gen_ai.tool.name', toString(tool_name), 'error.type', toString(error_type),
        'gen_ai.usage.input_tokens', ifNull(toString(input_tokens), ''), 'gen_ai.usage.output_tokens', ifNull(toString(output_tokens), '')))) AS SpanAttributes,
    duration_ns AS Duration,
    if(error_type = '', 'Unset', 'Error') AS StatusCode,
    error_message AS StatusMessage,
    CAST([], 'Array(DateTime64(9))') AS `Events.Timestamp`,
    CAST([], 'Array(LowCardinality(String))') AS `Events.Name`,
    CAST([], 'Array(Map(LowCardinality(String), String))') AS `Events.Attributes`,
    CAST([], 'Array(String)') AS `Links.TraceId`,
    CAST([], 'Array(String)') AS `Links.SpanId`,
    CAST([], 'Array(String)') AS `Links.TraceState`,
    CAST([], 'Array(Map(LowCardinality(String), String))') AS `Links.Attributes`
FROM spans FINAL;

CREATE TABLE IF NOT EXISTS span_heads_local ON CLUSTER 'main'
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
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/homeground/span_heads_local', '{replica}', received_at)
ORDER BY (project, trace_id, span)
SETTINGS index_granularity = 512, min_bytes_for_wide_part = 1000000000000, min_age_to_force_merge_seconds = 120, min_age_to_force_merge_on_partition_only = 1,
         max_bytes_to_merge_at_max_space_in_pool = 4294967296;

CREATE TABLE IF NOT EXISTS span_heads ON CLUSTER 'main' AS span_heads_local ENGINE = Distributed('main', 'homeground', 'span_heads_local', cityHash64(trace_id));

CREATE MATERIALIZED VIEW IF NOT EXISTS span_heads_from_spans ON CLUSTER 'main' TO span_heads_local AS
SELECT project, trace_id, bitAnd(cityHash64(span_id), 0xFFFFFFFFFF) AS span, if(parent_span_id = '', 0, bitAnd(cityHash64(parent_span_id), 0xFFFFFFFFFF)) AS parent, kind,
       toUnixTimestamp64Milli(spans_local.start_time) AS start_ms, intDiv(duration_ns, 1000000) AS duration_ms, received_at, session, user, agent_name, tags, error_type, model, response_model,
       input_tokens, output_tokens, attempt, tool_name, source, run,
       if(kind != 'agent', '', if(lengthUTF8(spans_local.input_preview) <= 80, spans_local.input_preview, concat(leftUTF8(spans_local.input_preview, 79), '…'))) AS input_preview,
       if(kind != 'agent', '', if(lengthUTF8(spans_local.output_preview) <= 80, spans_local.output_preview, concat(leftUTF8(spans_local.output_preview, 79), '…'))) AS output_preview
FROM spans_local;

INSERT INTO span_heads
SELECT project, trace_id, bitAnd(cityHash64(span_id), 0xFFFFFFFFFF) AS span, if(parent_span_id = '', 0, bitAnd(cityHash64(parent_span_id), 0xFFFFFFFFFF)) AS parent, kind,
       toUnixTimestamp64Milli(spans.start_time) AS start_ms, intDiv(duration_ns, 1000000) AS duration_ms, received_at, session, user, agent_name, tags, error_type, model, response_model,
       input_tokens, output_tokens, attempt, tool_name, source, run,
       if(kind != 'agent', '', if(lengthUTF8(spans.input_preview) <= 80, spans.input_preview, concat(leftUTF8(spans.input_preview, 79), '…'))) AS input_preview,
       if(kind != 'agent', '', if(lengthUTF8(spans.output_preview) <= 80, spans.output_preview, concat(leftUTF8(spans.output_preview, 79), '…'))) AS output_preview
FROM spans;

ALTER TABLE spans_local ON CLUSTER 'main' MODIFY COLUMN bodies REMOVE CODEC;

ALTER TABLE spans_local ON CLUSTER 'main' MODIFY SETTING merge_with_recompression_ttl_timeout = 300;

ALTER TABLE spans_local ON CLUSTER 'main' MODIFY TTL toDateTime(received_at) + INTERVAL 90 SECOND RECOMPRESS CODEC(ZSTD(3, 24));

ALTER TABLE spans_local ON CLUSTER 'main'
    MODIFY COLUMN start_time DateTime64(9, 'UTC') CODEC(GCD, Delta(8), ZSTD(1)),
    MODIFY COLUMN duration_ns UInt64 CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN input_preview String CODEC(ZSTD(3)),
    MODIFY COLUMN output_preview String CODEC(ZSTD(3));

ALTER TABLE span_heads_local ON CLUSTER 'main' ADD INDEX IF NOT EXISTS by_trace trace_id TYPE bloom_filter(0.0005) GRANULARITY 1;

ALTER TABLE span_heads_local ON CLUSTER 'main' MATERIALIZE INDEX by_trace;

CREATE OR REPLACE VIEW latency_by_model ON CLUSTER 'main' AS
SELECT
    project,
    model,
    count() AS calls,
    quantile(0.5)(duration_ns) / 1e6 AS p50_ms,
    quantile(0.9)(duration_ns) / 1e6 AS p90_ms,
    quantile(0.99)(duration_ns) / 1e6 AS p99_ms,
    quantile(0.5)(first_chunk_ms) AS first_chunk_p50_ms
FROM spans FINAL
WHERE kind = 'model'
GROUP BY project, model;
