// Every command, in the order that `homeground --help` lists them. A command file exports `register(program)`.
import type { Command } from 'commander'

export const commands: ((program: Command) => void)[] = []
