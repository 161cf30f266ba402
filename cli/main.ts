#!/usr/bin/env node
// The command line: one file a command, no logic of its own. Exit 0 done, 1 the answer is no, 2 wrong use or settings, 3 it failed.
import { Command, CommanderError } from 'commander'
import { registerCommands } from './commands.ts'
import { endWithLoop } from './loop-step.ts'
import { exitCodeOf, printError } from './output.ts'
import { version } from './version.ts'

const program = new Command('homeground')
  .description('Turn your own agent product into the environment its models are measured and trained in.')
  .version(version)
  .option('--json', 'print results and errors as JSON')
  .configureHelp({ showGlobalOptions: true })
  .exitOverride()
  .configureOutput({ outputError: () => {} })

// Whoever read our output has gone (`homeground traces list | head -1`): end as a program that a broken pipe ends, 128 + SIGPIPE.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(141)
    throw error
  })
}

endWithLoop()
try {
  await registerCommands(program, process.argv.slice(2))
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError && error.exitCode === 0) process.exitCode = 0
  // A group of commands without one of them: its help has been printed, and is the answer.
  else if (error instanceof CommanderError && error.code === 'commander.help') process.exitCode = 2
  else {
    printError(error, { json: process.argv.includes('--json') })
    process.exitCode = exitCodeOf(error)
  }
}
