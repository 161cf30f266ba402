import type { Episode } from '@homeground/sdk/trace';
import { z } from 'zod';
import type { Task, ToolSettings } from '../environment/types.ts';
export declare const criterionSchema: z.ZodDiscriminatedUnion<[z.ZodObject<{
    name: z.ZodString;
    weight: z.ZodDefault<z.ZodNumber>;
    type: z.ZodLiteral<"equals">;
    value: z.ZodExactOptional<z.ZodJSONSchema>;
    path: z.ZodExactOptional<z.ZodString>;
}, z.core.$strict>, z.ZodObject<{
    name: z.ZodString;
    weight: z.ZodDefault<z.ZodNumber>;
    type: z.ZodLiteral<"contains">;
    values: z.ZodExactOptional<z.ZodArray<z.ZodString>>;
    caseSensitive: z.ZodDefault<z.ZodBoolean>;
}, z.core.$strict>, z.ZodObject<{
    name: z.ZodString;
    weight: z.ZodDefault<z.ZodNumber>;
    type: z.ZodLiteral<"matches">;
    pattern: z.ZodString;
    flags: z.ZodDefault<z.ZodString>;
}, z.core.$strict>, z.ZodObject<{
    name: z.ZodString;
    weight: z.ZodDefault<z.ZodNumber>;
    type: z.ZodLiteral<"json">;
    schema: z.ZodExactOptional<z.ZodJSONSchema>;
}, z.core.$strict>, z.ZodObject<{
    name: z.ZodString;
    weight: z.ZodDefault<z.ZodNumber>;
    type: z.ZodLiteral<"tool_called">;
    tool: z.ZodString;
    arguments: z.ZodExactOptional<z.ZodJSONSchema>;
    min: z.ZodDefault<z.ZodInt>;
}, z.core.$strict>, z.ZodObject<{
    name: z.ZodString;
    weight: z.ZodDefault<z.ZodNumber>;
    type: z.ZodLiteral<"no_tool_called">;
    tools: z.ZodExactOptional<z.ZodArray<z.ZodString>>;
}, z.core.$strict>, z.ZodObject<{
    name: z.ZodString;
    weight: z.ZodDefault<z.ZodNumber>;
    type: z.ZodLiteral<"tool_sequence">;
    tools: z.ZodArray<z.ZodString>;
}, z.core.$strict>, z.ZodObject<{
    name: z.ZodString;
    weight: z.ZodDefault<z.ZodNumber>;
    type: z.ZodLiteral<"actions">;
    outputs: z.ZodDefault<z.ZodBoolean>;
}, z.core.$strict>, z.ZodObject<{
    name: z.ZodString;
    weight: z.ZodDefault<z.ZodNumber>;
    type: z.ZodLiteral<"code">;
    code: z.ZodString;
    timeoutMs: z.ZodDefault<z.ZodInt>;
}, z.core.$strict>, z.ZodObject<{
    name: z.ZodString;
    weight: z.ZodDefault<z.ZodNumber>;
    type: z.ZodLiteral<"judge">;
    scale: z.ZodDefault<z.ZodUnion<readonly [z.ZodLiteral<"binary">, z.ZodArray<z.ZodObject<{
        label: z.ZodString;
        value: z.ZodNumber;
    }, z.core.$strict>>]>>;
    instructions: z.ZodString;
    model: z.ZodString;
    repeats: z.ZodDefault<z.ZodInt>;
}, z.core.$strict>, z.ZodObject<{
    name: z.ZodString;
    weight: z.ZodDefault<z.ZodNumber>;
    type: z.ZodLiteral<"feedback">;
    feedback: z.ZodString;
    max: z.ZodDefault<z.ZodNumber>;
}, z.core.$strict>, z.ZodObject<{
    name: z.ZodString;
    weight: z.ZodDefault<z.ZodNumber>;
    type: z.ZodLiteral<"cost">;
    max: z.ZodNumber;
}, z.core.$strict>, z.ZodObject<{
    name: z.ZodString;
    weight: z.ZodDefault<z.ZodNumber>;
    type: z.ZodLiteral<"latency">;
    max: z.ZodNumber;
}, z.core.$strict>, z.ZodObject<{
    name: z.ZodString;
    weight: z.ZodDefault<z.ZodNumber>;
    type: z.ZodLiteral<"steps">;
    max: z.ZodInt;
}, z.core.$strict>], "type">;
export type Criterion = z.infer<typeof criterionSchema>;
export type CriterionOf<Type extends Criterion['type']> = Extract<Criterion, {
    type: Type;
}>;
export declare const rubricSchema: z.ZodObject<{
    criteria: z.ZodArray<z.ZodDiscriminatedUnion<[z.ZodObject<{
        name: z.ZodString;
        weight: z.ZodDefault<z.ZodNumber>;
        type: z.ZodLiteral<"equals">;
        value: z.ZodExactOptional<z.ZodJSONSchema>;
        path: z.ZodExactOptional<z.ZodString>;
    }, z.core.$strict>, z.ZodObject<{
        name: z.ZodString;
        weight: z.ZodDefault<z.ZodNumber>;
        type: z.ZodLiteral<"contains">;
        values: z.ZodExactOptional<z.ZodArray<z.ZodString>>;
        caseSensitive: z.ZodDefault<z.ZodBoolean>;
    }, z.core.$strict>, z.ZodObject<{
        name: z.ZodString;
        weight: z.ZodDefault<z.ZodNumber>;
        type: z.ZodLiteral<"matches">;
        pattern: z.ZodString;
        flags: z.ZodDefault<z.ZodString>;
    }, z.core.$strict>, z.ZodObject<{
        name: z.ZodString;
        weight: z.ZodDefault<z.ZodNumber>;
        type: z.ZodLiteral<"json">;
        schema: z.ZodExactOptional<z.ZodJSONSchema>;
    }, z.core.$strict>, z.ZodObject<{
        name: z.ZodString;
        weight: z.ZodDefault<z.ZodNumber>;
        type: z.ZodLiteral<"tool_called">;
        tool: z.ZodString;
        arguments: z.ZodExactOptional<z.ZodJSONSchema>;
        min: z.ZodDefault<z.ZodInt>;
    }, z.core.$strict>, z.ZodObject<{
        name: z.ZodString;
        weight: z.ZodDefault<z.ZodNumber>;
        type: z.ZodLiteral<"no_tool_called">;
        tools: z.ZodExactOptional<z.ZodArray<z.ZodString>>;
    }, z.core.$strict>, z.ZodObject<{
        name: z.ZodString;
        weight: z.ZodDefault<z.ZodNumber>;
        type: z.ZodLiteral<"tool_sequence">;
        tools: z.ZodArray<z.ZodString>;
    }, z.core.$strict>, z.ZodObject<{
        name: z.ZodString;
        weight: z.ZodDefault<z.ZodNumber>;
        type: z.ZodLiteral<"actions">;
        outputs: z.ZodDefault<z.ZodBoolean>;
    }, z.core.$strict>, z.ZodObject<{
        name: z.ZodString;
        weight: z.ZodDefault<z.ZodNumber>;
        type: z.ZodLiteral<"code">;
        code: z.ZodString;
        timeoutMs: z.ZodDefault<z.ZodInt>;
    }, z.core.$strict>, z.ZodObject<{
        name: z.ZodString;
        weight: z.ZodDefault<z.ZodNumber>;
        type: z.ZodLiteral<"judge">;
        scale: z.ZodDefault<z.ZodUnion<readonly [z.ZodLiteral<"binary">, z.ZodArray<z.ZodObject<{
            label: z.ZodString;
            value: z.ZodNumber;
        }, z.core.$strict>>]>>;
        instructions: z.ZodString;
        model: z.ZodString;
        repeats: z.ZodDefault<z.ZodInt>;
    }, z.core.$strict>, z.ZodObject<{
        name: z.ZodString;
        weight: z.ZodDefault<z.ZodNumber>;
        type: z.ZodLiteral<"feedback">;
        feedback: z.ZodString;
        max: z.ZodDefault<z.ZodNumber>;
    }, z.core.$strict>, z.ZodObject<{
        name: z.ZodString;
        weight: z.ZodDefault<z.ZodNumber>;
        type: z.ZodLiteral<"cost">;
        max: z.ZodNumber;
    }, z.core.$strict>, z.ZodObject<{
        name: z.ZodString;
        weight: z.ZodDefault<z.ZodNumber>;
        type: z.ZodLiteral<"latency">;
        max: z.ZodNumber;
    }, z.core.$strict>, z.ZodObject<{
        name: z.ZodString;
        weight: z.ZodDefault<z.ZodNumber>;
        type: z.ZodLiteral<"steps">;
        max: z.ZodInt;
    }, z.core.$strict>], "type">>;
}, z.core.$strict>;
export type Rubric = z.infer<typeof rubricSchema>;
/** A criterion's result: value in [0, 1], or null with the reason. */
export interface Score {
    value: number | null;
    weight: number;
    reason: string;
}
/** Pure but for `code` and `judge`. Never throws for what the episode holds: it answers null with the reason. */
export type Grader<C extends Criterion = Criterion> = (input: GraderInput<C>) => Score | Promise<Score>;
export interface GraderInput<C extends Criterion = Criterion> {
    criterion: C;
    episode: Episode;
    task: Task;
    tools: Record<string, ToolSettings>;
    /** US dollars, where prices are known. */
    costUsd: number | undefined;
}
