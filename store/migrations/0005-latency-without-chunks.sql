-- A model that was never asked for a stream has no first chunk: NULL, where NaN stood, which neither JSON nor a chart can show.
CREATE OR REPLACE VIEW latency_by_model AS
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
