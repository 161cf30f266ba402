import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { resolveSettings } from '../../sdk/settings.ts'

const open: { shutdown(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.shutdown()
})

describe('homeground()', () => {
  it.each<[string, unknown]>([
    ['no options', undefined],
    ['no project', {}],
    ['an endpoint that is no URL', { project: 'p', endpoint: 'collector' }],
    ['a redactor that there is not', { project: 'p', redact: 'mail' }],
    ['a share over one', { project: 'p', sample: 5 }],
    ['a share that is no number', { project: 'p', sample: Number.NaN }],
    ['a queue of less than nothing', { project: 'p', maxQueueBytes: -1 }],
    ['an exporter that exports nothing', { project: 'p', exporter: {} }],
    ['a project that is no text', { project: 5 }],
    ['an endpoint without a scheme', { project: 'p', endpoint: 'localhost:4318' }],
    ['an endpoint of another scheme', { project: 'p', endpoint: 'ftp://collector:21' }],
    ['an endpoint that is a URL object', { project: 'p', endpoint: new URL('http://127.0.0.1:4318') }],
    ['an endpoint with a query', { project: 'p', endpoint: 'http://127.0.0.1:4318/?project=p' }],
    ['redactors that are a number', { project: 'p', redact: 5 }],
    ['a list of redactors with a hole', { project: 'p', redact: ['email', null] }],
    ['a redaction key that is a number', { project: 'p', redact: 'email', redactKey: 5 }],
    ['another provider', { project: 'p', provider: 'hots' }],
    ['a switch that is a word', { project: 'p', enabled: 'false' }],
    ['content switched off by a word', { project: 'p', captureContent: 'false' }],
    ['variants that are a list', { project: 'p', variants: [] }],
    ['a variant without a share', { project: 'p', variants: { model: { value: 'small' } } }],
    ['a variant for more than all', { project: 'p', variants: { model: { value: 'small', share: 50 } } }],
    ['a spool without a folder', { project: 'p', spool: {} }],
    ['a spool that is a path', { project: 'p', spool: '/var/spool' }],
    ['a spool that is bounded by a word', { project: 'p', spool: { folder: '/tmp/x', maxBytes: '1 GB' } }],
    ['waitUntil that is no function', { project: 'p', waitUntil: true }],
    ['a key with a line break', { project: 'p', apiKey: 'hg_1\nhg_2' }],
    ['an option that there is not', { project: 'p', captureContents: false }],
  ])('with %s is refused with a code and what to do', (_, options) => {
    expect(() => Reflect.apply(homeground, undefined, [options])).toThrow(
      expect.objectContaining({ code: 'invalid-argument', hint: expect.any(String), message: expect.stringContaining('homeground(): ') }),
    )
  })

  it('never shows a password that stands in the endpoint', () => {
    expect(() => homeground({ project: 'p', endpoint: 'http://ada:tr0ub4dor@collector' })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('tr0ub4dor'), code: 'invalid-argument' }),
    )
  })

  it('takes an option that is undefined for one that was left out', () => {
    const given = { project: 'p', endpoint: undefined, redact: undefined, spool: undefined, exporter: { export: () => undefined } }
    const hg = Reflect.apply(homeground, undefined, [given])
    open.push(hg)
    expect(hg.enabled).toBe(true)
  })

  it('takes one redactor by its name', async () => {
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'p', redact: 'email', exporter })
    open.push(hg)
    await hg.agent('a', async (_: string) => 1)('of ada@example.com')
    await hg.flush()
    expect(exporter.spans[0]?.attributes['homeground.agent.input']).toMatch(/^"of <email:[0-9a-f]{8}>"$/)
  })

  it('any number of them listens to the end of the process as one', () => {
    const before = process.listenerCount('beforeExit') + process.listenerCount('exit')
    for (let count = 0; count < 30; count += 1) open.push(homeground({ project: 'p', exporter: { export: () => undefined } }))
    expect(process.listenerCount('beforeExit') + process.listenerCount('exit') - before).toBeLessThanOrEqual(3)
  })
})

describe('of the environment', () => {
  const settings = (environment: Record<string, string>) => resolveSettings({ project: 'p' }, environment)

  it.each<[string, string, string]>([
    ['is used', 'https://collector.example', 'https://collector.example'],
    ['loses the path that is added again', 'https://collector.example/v1/traces', 'https://collector.example'],
    ['loses blanks and line breaks', ' http://collector:4318\n', 'http://collector:4318'],
    ['without a scheme is left out', 'collector:4318', 'http://127.0.0.1:4318'],
    ['of another scheme is left out', 'ftp://collector', 'http://127.0.0.1:4318'],
    ['with a password is left out', 'http://ada:tr0ub4dor@collector', 'http://127.0.0.1:4318'],
  ])('an endpoint %s', (_, given, endpoint) => {
    expect(settings({ HOMEGROUND_ENDPOINT: given }).endpoint).toBe(endpoint)
  })

  it.each<[string, string, string | undefined]>([
    ['is used', 'hg_1', 'hg_1'],
    ['loses the line break of its file', 'hg_1\n', 'hg_1'],
    ['of nothing is none', ' ', undefined],
    ['that no header can hold is left out', 'hg_1\nhg_2', undefined],
  ])('a key %s', (_, given, apiKey) => {
    expect(settings({ HOMEGROUND_API_KEY: given }).apiKey).toBe(apiKey)
  })

  it.each<[string | undefined, boolean]>([
    [undefined, true],
    ['', true],
    ['false', true],
    ['0', true],
    ['true', false],
    ['1', false],
    ['Yes', false],
    ['please', false],
  ])('HOMEGROUND_DISABLED=%s: enabled %s', (word, enabled) => {
    expect(settings(word === undefined ? {} : { HOMEGROUND_DISABLED: word }).enabled).toBe(enabled)
  })

  it('what it has wrong is a warning of the process, without the value', async () => {
    const told: string[] = []
    const listen = ({ message }: Error) => void told.push(message)
    process.on('warning', listen)
    onTestFinished(() => void process.off('warning', listen))
    resolveSettings(
      { project: 'p', redact: 'email' },
      { HOMEGROUND_ENDPOINT: 'http://x/?secret', OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'perhaps' },
    )
    await new Promise(setImmediate)
    // Each of its sentences is told once a process, redaction's already above.
    expect(told.slice(-2)).toEqual([
      expect.stringMatching(/^homeground: HOMEGROUND_ENDPOINT has a query or fragment.*it is left out$/),
      expect.stringContaining('CAPTURE_MESSAGE_CONTENT has a word that is not known'),
    ])
  })

  it('resource attributes end at the first equals sign, and may name the service', () => {
    const { resource, serviceName } = settings({ OTEL_RESOURCE_ATTRIBUTES: 'team=a=b,service.name=shop%20desk,broken, =x' })
    expect({ resource, serviceName }).toEqual({ resource: { team: 'a=b', 'service.name': 'shop desk' }, serviceName: 'shop desk' })
  })

  it('a service’s name of its own goes before that, and an empty one does not', () => {
    const OTEL_RESOURCE_ATTRIBUTES = 'service.name=desk'
    expect(settings({ OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME: 'own' }).serviceName).toBe('own')
    expect(settings({ OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME: '' }).serviceName).toBe('desk')
  })
})
