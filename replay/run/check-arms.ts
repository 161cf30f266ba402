// Whether arms can make a run: there is one, and each has a name of its own.
import { HomegroundError } from '@homeground/sdk/trace'
import type { Arm } from './types.ts'

/** @throws HomegroundError invalid-argument */
export function checkArms(arms: readonly Arm[]): void {
  const names = arms.map((arm) => arm.name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (names.length > 0 && twice === undefined) return
  throw new HomegroundError('invalid-argument', twice === undefined ? 'a run needs at least one arm' : `two arms are named ${twice}`, {
    hint: 'give --arm NAME=MODEL once for each model under test',
  })
}
