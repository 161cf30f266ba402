// docs/tune.md beside the code that it speaks of: its JSON is accepted, and it names every format, rule and setting that there is.
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { formats } from '../../tune/formats/index.ts'
import { gateRulesSchema } from '../../tune/gate/index.ts'
import { loopFileSchema, planIteration, stepNames } from '../../tune/loop/index.ts'
import { readProjectFile } from '../support/project-files.ts'

const page = readProjectFile('docs/tune.md')
const json = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map((match): unknown => JSON.parse(match[1] ?? ''))

describe('docs/tune.md', () => {
  it('shows a gate.json and a loop.json that are accepted, and says the steps in their order', () => {
    const [, gate, loop] = json
    expect(gateRulesSchema.parse(gate)).toEqual(gate)
    const parsed = loopFileSchema.parse(loop)
    expect(planIteration(parsed, { folder: path.join('loops', '001'), live: 'models/base' }).map(({ name }) => name)).toEqual([
      ...stepNames,
    ])
    expect(page).toContain(`An iteration is ${stepNames.slice(0, -1).join(', ')}, ${stepNames.at(-1)}.`)
  })

  it('names every format of rows and every rule of a gate', () => {
    const names = [...Object.keys(formats), ...Object.keys(gateRulesSchema.shape).filter((name) => name !== 'format')]
    expect(names.filter((name) => !page.includes(name))).toEqual([])
  })

  it('names every field of the trainer’s settings, and shows only those', () => {
    const fields = fieldsOf(readProjectFile('tune/trainer/homeground_tune/settings.py'))
    const elsewhere = readProjectFile('docs/reinforcement-learning.md')
    const missing = [...fields].filter(([name, owner]) => {
      const where = owner === 'RolloutSettings' ? elsewhere : page
      return owner !== 'Settings' && !new RegExp(`\\b${name}\\b`).test(where)
    })
    expect(missing.map(([name]) => name)).toEqual(['service', 'generation'].filter((name) => missing.some(([each]) => each === name)))
    const shown = Object.entries(json[0] as Record<string, unknown>).flatMap(([name, value]) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) ? [name, ...Object.keys(value)] : [name],
    )
    expect(shown.filter((name) => !fields.has(name))).toEqual([])
  })
})

/** Field name in camelCase -> its dataclass. */
function fieldsOf(python: string): Map<string, string> {
  const fields = new Map<string, string>()
  let owner = ''
  for (const line of python.split('\n')) {
    owner = /^class (\w+)/.exec(line)?.[1] ?? owner
    const name = /^ {4}([a-z_]+): /.exec(line)?.[1]
    if (name !== undefined)
      fields.set(
        name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
        owner,
      )
  }
  return fields
}
