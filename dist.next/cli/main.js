#!/usr/bin/env node
// The command line: one file a command, no logic of its own. Exit 0 done, 1 the answer is no, 2 wrong use or settings, 3 it failed.
import { Command, CommanderError } from 'commander';
import { commands } from './commands.js';
import { exitCodeOf, printError } from './output.js';
import { version } from './version.js';
const program = new Command('homeground')
    .description('Turn your own agent product into the environment its models are measured and trained in.')
    .version(version)
    .option('--json', 'print results and errors as JSON')
    .exitOverride()
    .configureOutput({ outputError: () => { } });
for (const register of commands)
    register(program);
try {
    await program.parseAsync();
}
catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0)
        process.exitCode = 0;
    else {
        printError(error, { json: process.argv.includes('--json') });
        process.exitCode = exitCodeOf(error);
    }
}
//# sourceMappingURL=main.js.map