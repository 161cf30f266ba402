// Names with texts (tags, attributes) in what JSON.parse made of a row.
import { z } from 'zod'

/** As it is: zod's own record leaves `__proto__` out, which is a tag's or an attribute's name like any other. */
export const textMap = z.custom<Record<string, string>>(
  (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every((text) => typeof text === 'string'),
  'expected names with texts',
)
