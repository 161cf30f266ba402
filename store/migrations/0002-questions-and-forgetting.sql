-- Tables for what people ask and for what must be forgotten, and the views that answer the usual questions (docs/questions.md).

-- US dollars a million tokens, by the model's name without date. Filled at the start of every collector from the dated list and HOMEGROUND_PRICES.
CREATE TABLE IF NOT EXISTS prices
(
    model String,
    input Float64,
    output Float64,
    cache_read Float64,
    cache_write Float64,
    as_of String,
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY model;

-- Which traces an environment was built from, so that an erasure can name the folders that still hold them.
CREATE TABLE IF NOT EXISTS environments
(
    project LowCardinality(String),
    hash String,
    name String,
    folder String,
    built_at DateTime64(3, 'UTC'),
    trace_ids Array(String) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(built_at)
ORDER BY (project, hash, folder);

-- How many days a project's rows are kept; 0: for ever.
CREATE TABLE IF NOT EXISTS retention
(
    project String,
    days UInt32,
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY project;

CREATE OR REPLACE VIEW cost_by_model_and_day AS
SELECT
    project,
    toDate(start_time) AS day,
    model_name AS model,
    count() AS calls,
    sum(ifNull(input_tokens, 0)) AS input_tokens_total,
    sum(ifNull(output_tokens, 0)) AS output_tokens_total,
    -- NULL where a price is missing: a cost that is not known is not 0.
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

CREATE OR REPLACE VIEW latency_by_model AS
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

CREATE OR REPLACE VIEW tool_error_rates AS
SELECT
    project,
    tool_name AS tool,
    count() AS calls,
    countIf(error_type != '') AS errors,
    errors / calls AS error_rate
FROM spans FINAL
WHERE kind = 'tool'
GROUP BY project, tool_name;

-- `bad`: false, a number below 0.5, or one of the usual words.
CREATE OR REPLACE VIEW sessions_with_bad_feedback AS
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

-- The shape of the OpenTelemetry Collector's ClickHouse exporter, for Grafana's ClickHouse plug-in and HyperDX.
CREATE OR REPLACE VIEW otel_traces AS
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
