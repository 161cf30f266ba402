// How commands speak: results on stdout (text, or one JSON value with --json), errors and progress on stderr.
import { errorCodes, HomegroundError } from '@homeground/sdk/trace';
import { CommanderError } from 'commander';
/** 2 for wrong use or settings, 3 for a failure: a crash must not read as an answer. */
export function exitCodeOf(error) {
    if (HomegroundError.is(error))
        return errorCodes[error.code].exit;
    if (error instanceof CommanderError)
        return 2;
    return errorCodes.internal.exit;
}
/** One error on stderr: message, hint, where to read more. No stack, but for a fault of our own. */
export function printError(error, options) {
    const shown = describe(error);
    if (options.json)
        process.stderr.write(`${JSON.stringify({ error: shown })}\n`);
    else
        process.stderr.write(`error: ${shown.message}\n${shown.hint ? `  hint: ${shown.hint}\n` : ''}  docs: docs/errors.md#${shown.code}\n`);
}
function describe(error) {
    if (HomegroundError.is(error))
        return { code: error.code, message: error.message, hint: error.hint };
    if (error instanceof CommanderError) {
        return {
            code: 'invalid-argument',
            message: error.message.replace(/^error: /, ''),
            hint: 'homeground --help lists the commands and options',
        };
    }
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { code: 'internal', message, hint: 'this is a fault of Homeground; please report it with the lines above' };
}
//# sourceMappingURL=output.js.map