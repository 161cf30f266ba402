/** 2 for wrong use or settings, 3 for a failure: a crash must not read as an answer. */
export declare function exitCodeOf(error: unknown): number;
/** One error on stderr: message, hint, where to read more. No stack, but for a fault of our own. */
export declare function printError(error: unknown, options: {
    json: boolean;
}): void;
