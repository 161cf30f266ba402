// The trainer's Python for tests: `HOMEGROUND_PYTHON`, else the environment that `homeground tune setup --with dev` made in this clone. Skipped with the reason where it is missing.
import path from 'node:path'
import { pythonState } from '../../tune/train/index.ts'
import { projectRoot } from './project-files.ts'
import { missing } from './require.ts'

const state = pythonState({ folder: path.join(projectRoot, '.homeground') })

/** True where tests that need Python, torch and TRL are to be skipped: `describe.skipIf(pythonIsMissing)`. */
export const pythonIsMissing = missing(
  'python',
  state.fault === undefined ? undefined : `${state.fault.says}; ${state.fault.mend} --with dev`,
)

/** The interpreter; use it in tests that `pythonIsMissing` guards. */
export const python = state.python ?? 'python3'
