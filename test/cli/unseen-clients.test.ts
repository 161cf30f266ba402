import { describe, expect, it } from 'vitest'
import { unseenClients } from '../../cli/unseen-clients.ts'
import { readProjectFile } from '../support/project-files.ts'

const names = (dependencies: Record<string, string>) => unseenClients(JSON.stringify({ dependencies })).map(({ name }) => name)

describe('clients that fetch cannot see', () => {
  it('are named, with what to do; those that use fetch are not', () => {
    expect(
      names({ openai: '6', axios: '1', '@aws-sdk/client-s3': '3', '@aws-sdk/client-bedrock-runtime': '3', undici: '6', ws: '8', zod: '4' }),
    ).toEqual(['axios', '@aws-sdk/client-bedrock-runtime', 'undici', 'ws'])
    expect(unseenClients('{"dependencies":{"axios":"1"}}')[0]?.mend).toContain('hg.fetch')
  })

  it('say why: some do use fetch, for an API of their own', () => {
    const whys = ['axios', '@google/genai', 'cohere-ai', 'ollama', '@ai-sdk/google'].map(
      (name) => unseenClients(JSON.stringify({ dependencies: { [name]: '1' } }))[0]?.why,
    )
    expect(whys).toEqual(['does not use fetch', ...Array(4).fill('calls an API that is not known to hg.fetch and register')])
    expect(names({ '@ai-sdk/openai': '3', '@ai-sdk/anthropic': '3', '@mistralai/mistralai': '1', 'groq-sdk': '1' })).toEqual([])
  })

  it('are none in development dependencies, or where there is no package.json to read', () => {
    expect(unseenClients('{"devDependencies":{"axios":"1"}}')).toEqual([])
    expect([unseenClients('no json'), unseenClients('null'), unseenClients('{"dependencies":[1]}')]).toEqual([[], [], []])
  })

  it('each stand on the page that doctor points at', () => {
    const page = readProjectFile('docs/sdk/what-fetch-cannot-see.md')
    for (const name of names({
      axios: '1',
      undici: '1',
      ws: '1',
      got: '1',
      'node-fetch': '1',
      '@aws-sdk/client-bedrock-runtime': '1',
      '@azure/openai': '1',
      superagent: '1',
      needle: '1',
      '@azure-rest/ai-inference': '1',
      '@google/genai': '1',
      'cohere-ai': '1',
      ollama: '1',
      '@ai-sdk/google': '1',
      '@ai-sdk/amazon-bedrock': '1',
    }))
      expect(page).toContain(name)
  })
})
