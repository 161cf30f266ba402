import type { Episode, FeedbackRow, SpanRow } from '@homeground/sdk/trace';
export interface Store {
    /** Brings the schema forward; idempotent. @throws HomegroundError store-newer */
    migrate(): Promise<void>;
    /** Resolves when the rows are durable. A row sent again replaces the earlier one. @throws HomegroundError store-unavailable (retryable) */
    insertSpans(rows: readonly SpanRow[]): Promise<void>;
    insertFeedback(rows: readonly FeedbackRow[]): Promise<void>;
    /** Streams whole episodes in order of start; memory holds a page of traces at a time. */
    episodes(query: EpisodeQuery): AsyncIterable<Episode>;
    /** The episode with this id, or all of the trace with this id. Empty where there is none. */
    episode(project: string, idOrTrace: string): Promise<Episode[]>;
    /** One line an episode, newest first; reads no body. */
    traces(query: EpisodeQuery): Promise<TraceSummary[]>;
    /** The span rows of these traces, in start order. */
    spans(project: string, traceIds: readonly string[]): Promise<SpanRow[]>;
    counts(project?: string): Promise<{
        project: string;
        episodes: number;
        modelCalls: number;
        toolCalls: number;
    }[]>;
    close(): Promise<void>;
}
/** All conditions hold together. */
export interface EpisodeQuery {
    project: string;
    agent?: string;
    model?: string;
    session?: string;
    user?: string;
    tool?: string;
    tags?: Record<string, string>;
    /** Has feedback of this name, and, where given, this value. */
    feedback?: {
        name: string;
        value?: number | boolean | string;
    };
    source?: 'trace' | 'rollout' | 'import';
    run?: string;
    /** ISO 8601; episodes that started at or after it. */
    from?: string;
    /** ISO 8601; episodes that started before it. */
    to?: string;
    /** @default no limit for `episodes`, 50 for `traces` */
    limit?: number;
}
export interface TraceSummary {
    trace: string;
    startedAt: string;
    durationMs: number;
    agent: string;
    session: string;
    modelCalls: number;
    toolCalls: number;
    models: string[];
    inputTokens: number;
    outputTokens: number;
    errors: number;
    /** The first characters of the agent's input and output, or of the first prompt and last answer. */
    inputPreview: string;
    outputPreview: string;
}
