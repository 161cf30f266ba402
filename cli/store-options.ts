// The options of every command that opens the store.
import { type Command, Option } from 'commander'

/** `--folder`, in the commander way; the value wins over HOMEGROUND_FOLDER. */
export function folderOption(): Option {
  return new Option('--folder <FOLDER>', 'folder of the embedded engine, runs and spools (default: HOMEGROUND_FOLDER, else .homeground)')
}

/** The environment as this command should see it: what was given as an option stands in for the variable. */
export function environmentWith(given: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return { ...process.env, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) }
}

/** True where the user asked for JSON, before or after the command's name. */
export function wantsJson(command: Command): boolean {
  return command.optsWithGlobals()['json'] === true
}
