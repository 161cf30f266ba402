// A guide's code is its example's code, which runs.
import { describe, expect, it } from 'vitest'
import { readProjectFile } from '../../support/project-files.ts'

describe('the guides', () => {
  it.each(['vercel-ai', 'langchain', 'openai-agents', 'fetch'])('%s shows the code of its example', (name) => {
    const [, shown] = /```js\n([\s\S]*?)```/.exec(readProjectFile(`docs/sdk/${name}.md`)) ?? []
    const example = readProjectFile(`examples/frameworks/${name}/main.mjs`)
    expect(shown).toBe(example.slice(example.indexOf('\n') + 1))
  })
})
