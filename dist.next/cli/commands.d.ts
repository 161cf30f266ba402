import type { Command } from 'commander';
export declare const commands: ((program: Command) => void)[];
