// A real Apache Kafka broker (KRaft: broker and controller in one JVM) out of Maven Central, without containers. For tests and benches only.
// It dies with the process that started it, however that one went; a broker restarted on the same folder and ports has its data again.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { freePort } from '../../store/embedded/free-port.ts'
import { startBound } from './bound-process.ts'

const version = '4.4.0'
const cache = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(os.homedir(), '.cache'), 'homeground')
const jars = path.join(cache, `kafka-${version}`)
const jvm = ['-cp', path.join(jars, '*'), '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto', '-Djava.awt.headless=true']

export interface BrokerOptions {
  /** Keep it, and the ports, to start again on the same data. */
  folder: string
  ports: BrokerPorts
  /** Asks for a user name and a password on a listener of its own (PLAIN, without TLS). */
  sasl?: { port: number; user: string; password: string }
  /** A TLS listener of its own, with a certificate for 127.0.0.1 that `certificateFile` holds. */
  tls?: { port: number }
  /** More of the broker's settings. */
  settings?: Record<string, string>
}

export interface BrokerPorts {
  client: number
  controller: number
}

export interface Broker {
  /** `127.0.0.1:PORT` of the plain listener. */
  readonly address: string
  readonly pid: number
  /** The self-signed certificate of the TLS listener, PEM; written by `startBroker` with `tls`. */
  readonly certificateFile: string
  /** SIGTERM, and its end. */
  stop(): Promise<void>
  /** SIGKILL, and its end. */
  kill(): Promise<void>
}

/** Why no broker can run here; undefined where one can. Fetches the broker (43 MB) into ~/.cache/homeground on first use. */
export function brokerMissing(): string | undefined {
  const java = firstLine('java', ['-version'])
  const major = Number(/version "(\d+)/.exec(java ?? '')?.[1] ?? 0)
  if (major < 17) return java === undefined ? 'java is not installed' : `java 17 or newer is needed, this is ${java}`
  if (fs.existsSync(jars)) return undefined
  if (firstLine('mvn', ['-version']) === undefined) return `mvn is not installed, which fetches the broker into ${jars}`
  return fetchJars()
}

export async function freePorts(): Promise<BrokerPorts> {
  return { client: await freePort(), controller: await freePort() }
}

/** Resolves once the broker takes requests. */
export async function startBroker({ folder, ports, sasl, tls, settings = {} }: BrokerOptions): Promise<Broker> {
  fs.mkdirSync(folder, { recursive: true })
  const properties = path.join(folder, 'server.properties')
  const log = path.join(folder, 'server.log')
  const listeners = [
    `PLAINTEXT://127.0.0.1:${ports.client}`,
    ...(sasl === undefined ? [] : [`SASL_PLAINTEXT://127.0.0.1:${sasl.port}`]),
    ...(tls === undefined ? [] : [`SSL://127.0.0.1:${tls.port}`]),
  ]
  const all = {
    ...defaults,
    'controller.quorum.voters': `1@127.0.0.1:${ports.controller}`,
    listeners: [...listeners, `CONTROLLER://127.0.0.1:${ports.controller}`].join(','),
    'advertised.listeners': listeners.join(','),
    'log.dirs': path.join(folder, 'logs'),
    ...(sasl === undefined ? {} : saslSettings(sasl)),
    ...(tls === undefined ? {} : tlsSettings(folder)),
    ...settings,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}=${value}\n`)
  fs.writeFileSync(properties, lines.join(''))
  if (!fs.existsSync(path.join(folder, 'logs', 'meta.properties'))) {
    execFileSync('java', [...jvm, '-Xmx64m', 'kafka.tools.StorageTool', 'format', '--cluster-id', clusterId, '--config', properties], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  }
  const output = fs.openSync(log, 'w')
  const broker = await startBound('java', [...jvm, '-Xms64m', '-Xmx256m', 'kafka.Kafka', properties], { output })
  fs.closeSync(output)
  const deadline = performance.now() + 180_000
  while (!fs.readFileSync(log, 'utf8').includes('Kafka Server started')) {
    if (broker.hasEnded || performance.now() > deadline) {
      await broker.kill('SIGKILL')
      throw new Error(`the Kafka broker did not start: ${fs.readFileSync(log, 'utf8').slice(-2_000)}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    address: `127.0.0.1:${ports.client}`,
    pid: broker.pid,
    certificateFile: certificateFile(folder),
    stop: () => broker.kill('SIGTERM'),
    kill: () => broker.kill('SIGKILL'),
  }
}

/** One node and one folder: a fixed id is as good as any. */
const clusterId = 'MkU3OEVBNTcwNTJENDM2Qg'

const defaults: Record<string, string> = {
  'process.roles': 'broker,controller',
  'node.id': '1',
  'controller.listener.names': 'CONTROLLER',
  'inter.broker.listener.name': 'PLAINTEXT',
  'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL',
  'auto.create.topics.enable': 'false',
  'offsets.topic.replication.factor': '1',
  'offsets.topic.num.partitions': '1',
  'transaction.state.log.replication.factor': '1',
  'transaction.state.log.min.isr': '1',
  'transaction.state.log.num.partitions': '1',
  'share.coordinator.state.topic.replication.factor': '1',
  'share.coordinator.state.topic.min.isr': '1',
  'share.coordinator.state.topic.num.partitions': '1',
  'group.initial.rebalance.delay.ms': '0',
  'group.min.session.timeout.ms': '1000',
  'log.cleaner.dedupe.buffer.size': '8388608',
  // A broker that was killed is let in again without waiting for its old session to pass.
  'broker.heartbeat.interval.ms': '250',
  'broker.session.timeout.ms': '1500',
  'initial.broker.registration.timeout.ms': '30000',
}

function saslSettings({ user, password }: { user: string; password: string }): Record<string, string> {
  return {
    'sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.sasl_plaintext.plain.sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required user_${user}="${password}";`,
  }
}

function tlsSettings(folder: string): Record<string, string> {
  const store = path.join(folder, 'broker.p12')
  const password = 'test-only'
  if (!fs.existsSync(store)) {
    const common = ['-keystore', store, '-storetype', 'PKCS12', '-storepass', password, '-alias', 'broker']
    const san = 'SAN=IP:127.0.0.1,DNS:localhost'
    execFileSync('keytool', ['-genkeypair', ...common, '-keyalg', 'EC', '-dname', 'CN=127.0.0.1', '-ext', san, '-validity', '3650'], {
      stdio: 'ignore',
    })
    execFileSync('keytool', ['-exportcert', '-rfc', ...common, '-file', certificateFile(folder)], { stdio: 'ignore' })
  }
  return { 'ssl.keystore.type': 'PKCS12', 'ssl.keystore.location': store, 'ssl.keystore.password': password, 'ssl.key.password': password }
}

function certificateFile(folder: string): string {
  return path.join(folder, 'broker.pem')
}

/** Into a folder beside the target, then one rename: two runs at once do no harm. @returns why it failed */
function fetchJars(): string | undefined {
  fs.mkdirSync(cache, { recursive: true })
  const fresh = fs.mkdtempSync(path.join(cache, 'fetch-'))
  const dependency = (group: string, artifact: string, of: string) =>
    `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${of}</version></dependency>`
  // Kafka's own list names no binding for its log; without one the broker says nothing.
  const dependencies = dependency('org.apache.kafka', 'kafka_2.13', version) + dependency('org.slf4j', 'slf4j-simple', '1.7.36')
  fs.writeFileSync(
    path.join(fresh, 'pom.xml'),
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>local</groupId><artifactId>kafka</artifactId><version>1</version><packaging>pom</packaging><dependencies>${dependencies}</dependencies></project>`,
  )
  process.stderr.write(`kafka: fetching the broker into ${jars} (43 MB, once)\n`)
  try {
    const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${path.join(fresh, 'lib')}`]
    execFileSync('mvn', ['-B', '-q', '-f', path.join(fresh, 'pom.xml'), ...goal], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 300_000 })
    fs.renameSync(path.join(fresh, 'lib'), jars)
    return undefined
  } catch (error) {
    return fs.existsSync(jars) ? undefined : `maven could not fetch kafka_2.13:${version}: ${String(error).slice(0, 300)}`
  } finally {
    fs.rmSync(fresh, { recursive: true, force: true })
  }
}

/** The first line that a program prints (java prints on stderr); undefined where it is not there. */
function firstLine(program: string, given: readonly string[]): string | undefined {
  try {
    return execFileSync('sh', ['-c', `"$@" 2>&1`, 'sh', program, ...given], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .split('\n', 1)[0]
      ?.trim()
  } catch {
    return undefined
  }
}
