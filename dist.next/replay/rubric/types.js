// A rubric: weighted criteria, each with a grader. A score that could not be made is null, never 0.
import { z } from 'zod';
const base = { name: z.string().min(1), weight: z.number().nonnegative().default(1) };
export const criterionSchema = z.discriminatedUnion('type', [
    /** The final answer equals `value`, or the task's reference output. */
    z.strictObject({ ...base, type: z.literal('equals'), value: z.json().exactOptional(), path: z.string().exactOptional() }),
    /** The final answer contains all of `values`, or the reference outputs. */
    z.strictObject({
        ...base,
        type: z.literal('contains'),
        values: z.array(z.string()).exactOptional(),
        caseSensitive: z.boolean().default(false),
    }),
    z.strictObject({ ...base, type: z.literal('matches'), pattern: z.string(), flags: z.string().default('') }),
    /** The final answer is JSON and fits `schema`. */
    z.strictObject({ ...base, type: z.literal('json'), schema: z.json().exactOptional() }),
    z.strictObject({
        ...base,
        type: z.literal('tool_called'),
        tool: z.string(),
        arguments: z.json().exactOptional(),
        min: z.int().nonnegative().default(1),
    }),
    z.strictObject({ ...base, type: z.literal('no_tool_called'), tools: z.array(z.string()).exactOptional() }),
    z.strictObject({ ...base, type: z.literal('tool_sequence'), tools: z.array(z.string()).min(1) }),
    /** Effectful calls that succeeded, as a multiset of name + canonical arguments, and required outputs in the text. */
    z.strictObject({ ...base, type: z.literal('actions'), outputs: z.boolean().default(true) }),
    z.strictObject({ ...base, type: z.literal('code'), code: z.string(), timeoutMs: z.int().positive().default(5_000) }),
    z.strictObject({
        ...base,
        type: z.literal('judge'),
        scale: z
            .union([z.literal('binary'), z.array(z.strictObject({ label: z.string(), value: z.number().min(0).max(1) })).min(2)])
            .default('binary'),
        instructions: z.string(),
        model: z.string(),
        repeats: z.int().positive().default(1),
    }),
    z.strictObject({ ...base, type: z.literal('feedback'), feedback: z.string(), max: z.number().positive().default(1) }),
    z.strictObject({ ...base, type: z.literal('cost'), max: z.number().positive() }),
    z.strictObject({ ...base, type: z.literal('latency'), max: z.number().positive() }),
    z.strictObject({ ...base, type: z.literal('steps'), max: z.int().positive() }),
]);
export const rubricSchema = z.strictObject({ criteria: z.array(criterionSchema).min(1) });
//# sourceMappingURL=types.js.map