import type { Json } from '@homeground/sdk/trace';
import { z } from 'zod';
export declare const effectSchema: z.ZodEnum<{
    none: "none";
    read: "read";
    unknown: "unknown";
    write: "write";
}>;
export declare const splitSchema: z.ZodEnum<{
    test: "test";
    train: "train";
    validation: "validation";
}>;
export type Split = z.infer<typeof splitSchema>;
export declare const toolSettingsSchema: z.ZodObject<{
    effect: z.ZodExactOptional<z.ZodEnum<{
        none: "none";
        read: "read";
        unknown: "unknown";
        write: "write";
    }>>;
    mode: z.ZodDefault<z.ZodEnum<{
        live: "live";
        mock: "mock";
        simulate: "simulate";
        tape: "tape";
    }>>;
    onMiss: z.ZodDefault<z.ZodEnum<{
        error: "error";
        fail: "fail";
        nearest: "nearest";
        simulate: "simulate";
    }>>;
    ignoreArguments: z.ZodExactOptional<z.ZodArray<z.ZodString>>;
    redact: z.ZodExactOptional<z.ZodArray<z.ZodObject<{
        path: z.ZodString;
        replace: z.ZodString;
    }, z.core.$strict>>>;
    mock: z.ZodExactOptional<z.ZodString>;
}, z.core.$strict>;
export type ToolSettings = z.infer<typeof toolSettingsSchema>;
/** `module`: the product's own agent function. `loop`: system prompt + tools + user turns. `turn`: each recorded decision by itself. `command`: any program. */
export declare const harnessSchema: z.ZodDiscriminatedUnion<[z.ZodObject<{
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
export type HarnessSettings = z.infer<typeof harnessSchema>;
export declare const environmentSchema: z.ZodObject<{
    format: z.ZodLiteral<1>;
    name: z.ZodString;
    version: z.ZodString;
    hash: z.ZodString;
    built: z.ZodObject<{
        at: z.ZodString;
        homeground: z.ZodString;
        query: z.ZodType<Json, unknown, z.core.$ZodTypeInternals<Json, unknown>>;
    }, z.core.$strict>;
    unit: z.ZodEnum<{
        episode: "episode";
        session: "session";
        turn: "turn";
    }>;
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
    tools: z.ZodRecord<z.ZodString, z.ZodObject<{
        effect: z.ZodExactOptional<z.ZodEnum<{
            none: "none";
            read: "read";
            unknown: "unknown";
            write: "write";
        }>>;
        mode: z.ZodDefault<z.ZodEnum<{
            live: "live";
            mock: "mock";
            simulate: "simulate";
            tape: "tape";
        }>>;
        onMiss: z.ZodDefault<z.ZodEnum<{
            error: "error";
            fail: "fail";
            nearest: "nearest";
            simulate: "simulate";
        }>>;
        ignoreArguments: z.ZodExactOptional<z.ZodArray<z.ZodString>>;
        redact: z.ZodExactOptional<z.ZodArray<z.ZodObject<{
            path: z.ZodString;
            replace: z.ZodString;
        }, z.core.$strict>>>;
        mock: z.ZodExactOptional<z.ZodString>;
    }, z.core.$strict>>;
    user: z.ZodObject<{
        mode: z.ZodEnum<{
            none: "none";
            recorded: "recorded";
            simulate: "simulate";
        }>;
    }, z.core.$strict>;
    rubric: z.ZodString;
    splits: z.ZodObject<{
        train: z.ZodNumber;
        validation: z.ZodNumber;
        test: z.ZodNumber;
    }, z.core.$strict>;
    splitBy: z.ZodDefault<z.ZodEnum<{
        session: "session";
        user: "user";
    }>>;
    counts: z.ZodRecord<z.ZodString, z.ZodInt>;
    provenance: z.ZodObject<{
        projects: z.ZodArray<z.ZodString>;
        from: z.ZodString;
        to: z.ZodString;
        redacted: z.ZodBoolean;
        licence: z.ZodExactOptional<z.ZodString>;
    }, z.core.$strict>;
}, z.core.$strict>;
export type EnvironmentFile = z.infer<typeof environmentSchema>;
export declare const actionSchema: z.ZodObject<{
    name: z.ZodString;
    arguments: z.ZodType<Json, unknown, z.core.$ZodTypeInternals<Json, unknown>>;
}, z.core.$strict>;
export type Action = z.infer<typeof actionSchema>;
export declare const referenceSchema: z.ZodObject<{
    output: z.ZodExactOptional<z.ZodType<Json, unknown, z.core.$ZodTypeInternals<Json, unknown>>>;
    outputs: z.ZodExactOptional<z.ZodArray<z.ZodString>>;
    actions: z.ZodExactOptional<z.ZodArray<z.ZodObject<{
        name: z.ZodString;
        arguments: z.ZodType<Json, unknown, z.core.$ZodTypeInternals<Json, unknown>>;
    }, z.core.$strict>>>;
    score: z.ZodExactOptional<z.ZodNumber>;
    feedback: z.ZodExactOptional<z.ZodRecord<z.ZodString, z.ZodUnion<readonly [z.ZodNumber, z.ZodBoolean, z.ZodString]>>>;
}, z.core.$strict>;
export type Reference = z.infer<typeof referenceSchema>;
export declare const taskSchema: z.ZodObject<{
    id: z.ZodString;
    hash: z.ZodString;
    split: z.ZodEnum<{
        test: "test";
        train: "train";
        validation: "validation";
    }>;
    session: z.ZodString;
    input: z.ZodExactOptional<z.ZodType<Json, unknown, z.core.$ZodTypeInternals<Json, unknown>>>;
    messages: z.ZodExactOptional<z.ZodArray<z.ZodType<Json, unknown, z.core.$ZodTypeInternals<Json, unknown>>>>;
    tools: z.ZodExactOptional<z.ZodArray<z.ZodType<Json, unknown, z.core.$ZodTypeInternals<Json, unknown>>>>;
    reference: z.ZodExactOptional<z.ZodObject<{
        output: z.ZodExactOptional<z.ZodType<Json, unknown, z.core.$ZodTypeInternals<Json, unknown>>>;
        outputs: z.ZodExactOptional<z.ZodArray<z.ZodString>>;
        actions: z.ZodExactOptional<z.ZodArray<z.ZodObject<{
            name: z.ZodString;
            arguments: z.ZodType<Json, unknown, z.core.$ZodTypeInternals<Json, unknown>>;
        }, z.core.$strict>>>;
        score: z.ZodExactOptional<z.ZodNumber>;
        feedback: z.ZodExactOptional<z.ZodRecord<z.ZodString, z.ZodUnion<readonly [z.ZodNumber, z.ZodBoolean, z.ZodString]>>>;
    }, z.core.$strict>>;
    tags: z.ZodRecord<z.ZodString, z.ZodString>;
    source: z.ZodObject<{
        trace: z.ZodString;
        episode: z.ZodExactOptional<z.ZodString>;
        startedAt: z.ZodExactOptional<z.ZodString>;
        step: z.ZodExactOptional<z.ZodString>;
    }, z.core.$strict>;
}, z.core.$strict>;
export type Task = z.infer<typeof taskSchema>;
export declare const tapeEntrySchema: z.ZodObject<{
    seq: z.ZodInt;
    kind: z.ZodEnum<{
        io: "io";
        tool: "tool";
    }>;
    name: z.ZodString;
    arguments: z.ZodType<Json, unknown, z.core.$ZodTypeInternals<Json, unknown>>;
    hash: z.ZodString;
    result: z.ZodExactOptional<z.ZodType<Json, unknown, z.core.$ZodTypeInternals<Json, unknown>>>;
    error: z.ZodExactOptional<z.ZodObject<{
        type: z.ZodString;
        message: z.ZodString;
    }, z.core.$strict>>;
    durationMs: z.ZodNumber;
    effect: z.ZodEnum<{
        none: "none";
        read: "read";
        unknown: "unknown";
        write: "write";
    }>;
    callId: z.ZodExactOptional<z.ZodString>;
    lane: z.ZodExactOptional<z.ZodString>;
}, z.core.$strict>;
export type TapeEntry = z.infer<typeof tapeEntrySchema>;
export declare const tapeSchema: z.ZodObject<{
    task: z.ZodString;
    entries: z.ZodArray<z.ZodObject<{
        seq: z.ZodInt;
        kind: z.ZodEnum<{
            io: "io";
            tool: "tool";
        }>;
        name: z.ZodString;
        arguments: z.ZodType<Json, unknown, z.core.$ZodTypeInternals<Json, unknown>>;
        hash: z.ZodString;
        result: z.ZodExactOptional<z.ZodType<Json, unknown, z.core.$ZodTypeInternals<Json, unknown>>>;
        error: z.ZodExactOptional<z.ZodObject<{
            type: z.ZodString;
            message: z.ZodString;
        }, z.core.$strict>>;
        durationMs: z.ZodNumber;
        effect: z.ZodEnum<{
            none: "none";
            read: "read";
            unknown: "unknown";
            write: "write";
        }>;
        callId: z.ZodExactOptional<z.ZodString>;
        lane: z.ZodExactOptional<z.ZodString>;
    }, z.core.$strict>>;
}, z.core.$strict>;
export type TaskTape = z.infer<typeof tapeSchema>;
/** An environment folder, open for reading. Tasks and tapes stream: nothing is held whole. */
export interface Environment {
    /** Absolute. */
    folder: string;
    file: EnvironmentFile;
    rubric: import('../rubric/types.ts').Rubric;
    /** In file order. */
    tasks(filter?: {
        split?: Split;
        ids?: readonly string[];
    }): AsyncIterable<Task>;
    tape(taskId: string): Promise<TaskTape>;
    /** The recorded episode of a task (recordings.jsonl.gz beside the tasks), for `env verify` and the report. */
    recording(taskId: string): Promise<import('@homeground/sdk/trace').Episode | undefined>;
}
