// Reads rubric.json: every fault named with its file, criterion and what was expected.
import { errorText, HomegroundError, type Json, parseInput } from '@homeground/sdk/trace'
import { z } from 'zod'
import { schemaOf } from './json-schema.ts'
import { type Criterion, criterionSchema, type Rubric, rubricSchema } from './types.ts'

/** The grader types that exist, in the order of docs/formats.md. */
export const graderTypes: readonly string[] = criterionSchema.options.map((option) => option.shape.type.value)

/**
 * @param place the file, for messages
 * @throws HomegroundError unknown-grader for a type that does not exist, environment-invalid for any other fault
 */
export function parseRubric(value: unknown, place: string): Rubric {
  refuseUnknownTypes(value, place)
  const rubric = parseInput(rubricSchema, value, {
    place,
    what: 'a rubric',
    code: 'environment-invalid',
    hint: 'mend that field; docs/formats.md lists those of each criterion type',
  })
  const names = rubric.criteria.map((criterion) => criterion.name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined)
    throw new HomegroundError('environment-invalid', `${place}: two criteria are named "${twice}"`, {
      hint: 'give each criterion a name of its own',
    })
  for (const criterion of rubric.criteria) checkContents(criterion, place)
  return rubric
}

const looseRubric = z.object({ criteria: z.array(z.object({ name: z.unknown(), type: z.string() })) })

function refuseUnknownTypes(value: unknown, place: string): void {
  const loose = looseRubric.safeParse(value)
  if (!loose.success) return
  for (const [at, { name, type }] of loose.data.criteria.entries()) {
    if (graderTypes.includes(type)) continue
    const who = typeof name === 'string' ? `criterion "${name}" (criteria[${at}])` : `criteria[${at}]`
    throw new HomegroundError('unknown-grader', `${place}: ${who} has the type "${type}", which does not exist`, {
      hint: `the types are ${graderTypes.join(', ')}`,
    })
  }
}

/** What a schema cannot see: that a pattern compiles and that a JSON Schema can be checked. */
function checkContents(criterion: Criterion, place: string): void {
  try {
    if (criterion.type === 'matches') new RegExp(criterion.pattern, criterion.flags)
    if (criterion.type === 'json' && criterion.schema !== undefined) schemaOf(criterion.schema satisfies Json)
  } catch (error) {
    throw new HomegroundError('environment-invalid', `${place}: criterion "${criterion.name}": ${errorText(error)}`, {
      hint:
        criterion.type === 'matches' ? 'pattern and flags are those of a JavaScript regular expression' : 'schema is a JSON Schema object',
      cause: error,
    })
  }
}
