import type { Json } from '@homeground/sdk/trace';
import { z } from 'zod';
export declare const armSchema: z.ZodObject<{
    name: z.ZodString;
    model: z.ZodString;
    url: z.ZodExactOptional<z.ZodURL>;
    apiKeyEnv: z.ZodExactOptional<z.ZodString>;
    api: z.ZodExactOptional<z.ZodEnum<{
        "anthropic.messages": "anthropic.messages";
        "openai.chat": "openai.chat";
        "openai.responses": "openai.responses";
    }>>;
    parameters: z.ZodExactOptional<z.ZodRecord<z.ZodString, z.ZodType<Json, unknown, z.core.$ZodTypeInternals<Json, unknown>>>>;
    variants: z.ZodExactOptional<z.ZodRecord<z.ZodString, z.ZodType<Json, unknown, z.core.$ZodTypeInternals<Json, unknown>>>>;
    cwd: z.ZodExactOptional<z.ZodString>;
}, z.core.$strict>;
export type Arm = z.infer<typeof armSchema>;
export declare const runFileSchema: z.ZodObject<{
    format: z.ZodLiteral<1>;
    id: z.ZodString;
    environment: z.ZodObject<{
        name: z.ZodString;
        folder: z.ZodString;
        hash: z.ZodString;
    }, z.core.$strict>;
    arms: z.ZodArray<z.ZodObject<{
        name: z.ZodString;
        model: z.ZodString;
        url: z.ZodExactOptional<z.ZodURL>;
        apiKeyEnv: z.ZodExactOptional<z.ZodString>;
        api: z.ZodExactOptional<z.ZodEnum<{
            "anthropic.messages": "anthropic.messages";
            "openai.chat": "openai.chat";
            "openai.responses": "openai.responses";
        }>>;
        parameters: z.ZodExactOptional<z.ZodRecord<z.ZodString, z.ZodType<Json, unknown, z.core.$ZodTypeInternals<Json, unknown>>>>;
        variants: z.ZodExactOptional<z.ZodRecord<z.ZodString, z.ZodType<Json, unknown, z.core.$ZodTypeInternals<Json, unknown>>>>;
        cwd: z.ZodExactOptional<z.ZodString>;
    }, z.core.$strict>>;
    harness: z.ZodDiscriminatedUnion<[z.ZodObject<{
        kind: z.ZodLiteral<"turn">;
    }, z.core.$strict>, z.ZodObject<{
        kind: z.ZodLiteral<"loop">;
        maxSteps: z.ZodDefault<z.ZodInt>;
    }, z.core.$strict>, z.ZodObject<{
        kind: z.ZodLiteral<"module">;
        module: z.ZodString;
        timeoutMs: z.ZodDefault<z.ZodInt>;
    }, z.core.$strict>, z.ZodObject<{
        kind: z.ZodLiteral<"command">;
        command: z.ZodArray<z.ZodString>;
        cwd: z.ZodExactOptional<z.ZodString>;
        env: z.ZodExactOptional<z.ZodRecord<z.ZodString, z.ZodString>>;
        timeoutMs: z.ZodDefault<z.ZodInt>;
    }, z.core.$strict>], "kind">;
    tasks: z.ZodArray<z.ZodString>;
    repeats: z.ZodInt;
    seed: z.ZodInt;
    margin: z.ZodNumber;
    startedAt: z.ZodString;
    versions: z.ZodRecord<z.ZodString, z.ZodString>;
}, z.core.$strict>;
export type RunFile = z.infer<typeof runFileSchema>;
export declare const scoreSchema: z.ZodObject<{
    value: z.ZodNullable<z.ZodNumber>;
    weight: z.ZodNumber;
    reason: z.ZodString;
}, z.core.$strict>;
export declare const rolloutSchema: z.ZodObject<{
    task: z.ZodString;
    session: z.ZodString;
    arm: z.ZodString;
    repeat: z.ZodInt;
    scores: z.ZodRecord<z.ZodString, z.ZodObject<{
        value: z.ZodNullable<z.ZodNumber>;
        weight: z.ZodNumber;
        reason: z.ZodString;
    }, z.core.$strict>>;
    score: z.ZodNullable<z.ZodNumber>;
    offTape: z.ZodObject<{
        count: z.ZodInt;
        first: z.ZodExactOptional<z.ZodInt>;
    }, z.core.$strict>;
    unconsumedWrites: z.ZodExactOptional<z.ZodArray<z.ZodInt>>;
    staleReads: z.ZodExactOptional<z.ZodInt>;
    userTurns: z.ZodExactOptional<z.ZodObject<{
        served: z.ZodInt;
        afterDivergence: z.ZodInt;
    }, z.core.$strict>>;
    divergence: z.ZodExactOptional<z.ZodObject<{
        step: z.ZodInt;
        kind: z.ZodString;
    }, z.core.$strict>>;
    usage: z.ZodObject<{
        inputTokens: z.ZodExactOptional<z.ZodNumber>;
        outputTokens: z.ZodExactOptional<z.ZodNumber>;
        cacheReadTokens: z.ZodExactOptional<z.ZodNumber>;
        cacheWriteTokens: z.ZodExactOptional<z.ZodNumber>;
        reasoningTokens: z.ZodExactOptional<z.ZodNumber>;
    }, z.core.$strict>;
    costUsd: z.ZodExactOptional<z.ZodNumber>;
    durationMs: z.ZodNumber;
    error: z.ZodExactOptional<z.ZodObject<{
        type: z.ZodString;
        message: z.ZodString;
    }, z.core.$strict>>;
    stop: z.ZodString;
    episode: z.ZodString;
}, z.core.$strict>;
export type Rollout = z.infer<typeof rolloutSchema>;
/** A run folder, open for reading. */
export interface Run {
    folder: string;
    file: RunFile;
    /** All rollouts there are, in task, arm, repeat order when complete. */
    rollouts(): AsyncIterable<Rollout>;
    episodes(): AsyncIterable<import('@homeground/sdk/trace').Episode>;
    /** tasks x arms x repeats, and how many of them are there. */
    size: {
        planned: number;
        done: number;
    };
}
