// The project's own text files, as git lists them (tracked, or new and not ignored), for tests that read the project itself.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const projectRoot = fileURLToPath(new URL('../..', import.meta.url))

/** Paths relative to the root, with `/`. Recorded test cases and data are among them only where asked for. */
export function projectFiles(options: { recorded?: boolean } = {}): string[] {
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: projectRoot, encoding: 'utf8' })
    .split('\n')
    .filter(
      (file) =>
        file !== '' &&
        (options.recorded === true || !/^(test\/cases|examples\/data)\//.test(file)) &&
        fs.existsSync(path.join(projectRoot, file)),
    )
}

export function readProjectFile(file: string): string {
  return fs.readFileSync(path.join(projectRoot, file), 'utf8')
}
