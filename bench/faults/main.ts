// The fault run: a real broker, a real engine and real collectors under load, killed with -9 at random, with the direct queue and with Kafka. Nothing that was acknowledged
// may be lost, nothing may be there twice, memory stays bounded. The last line is JSON: kills, acknowledged, lost, doubled.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { freePort } from '../../store/embedded/free-port.ts'
import { type Engine, startEngine } from '../../store/index.ts'
import { brokerMissing, freePorts } from '../../test/support/kafka-broker.ts'
import { startLoad } from './load.ts'
import { brokerMember, type CollectorMember, collectorMember, type Member } from './members.ts'
import { readOptions, seededRandom } from './options.ts'
import { type Outcome, verify } from './verify.ts'

const options = readOptions(process.argv.slice(2))
const random = seededRandom(options.seed)
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-faults-'))
const mostMemory = 640 * 1024 * 1024
const begun = performance.now()
say(`seed ${options.seed}, ${options.kills} kills, folder ${folder}`)
const missing = brokerMissing()
if (missing !== undefined) throw new Error(`the fault run needs a Kafka broker: ${missing}`)

// A JVM takes its time: the broker starts while the direct queue is tried.
const startingBroker = freePorts().then((ports) => brokerMember({ folder: path.join(folder, 'broker'), ports }))
startingBroker.catch(() => {})
const engine = await startEngine({ folder: path.join(folder, 'engine') })
const killsOfDirect = Math.max(1, Math.floor(options.kills / 3))
const direct = await phase('direct', killsOfDirect)
const kafka = await phase('kafka', options.kills - killsOfDirect)
await engine.close({ stop: true })
if (!options.keep) fs.rmSync(folder, { recursive: true, force: true })

const sum = (of: (result: PhaseResult) => number) => of(direct) + of(kafka)
const peakMemory = Math.max(direct.peakMemory, kafka.peakMemory)
const result = {
  kills: sum(({ kills }) => kills),
  acknowledged: sum(({ acknowledged }) => acknowledged),
  lost: sum(({ lost }) => lost),
  doubled: sum(({ doubled }) => doubled),
  peakMemoryMb: Math.round(peakMemory / 1024 / 1024),
  memoryBounded: peakMemory < mostMemory,
  seconds: Math.round((performance.now() - begun) / 1000),
  seed: options.seed,
}
process.stdout.write(`${JSON.stringify(result)}\n`)
if (result.lost > 0 || result.doubled > 0 || !result.memoryBounded) process.exitCode = 1

interface PhaseResult extends Outcome {
  kills: number
  peakMemory: number
}

async function phase(queue: 'direct' | 'kafka', kills: number): Promise<PhaseResult> {
  const { receivers, others } = await members(queue)
  const load = startLoad({ urls: receivers.map(({ url }) => url), senders: 4, random, series: queue === 'direct' ? 1 : 2 })
  await pause(1_000)
  const targets: Member[] = [...receivers, ...others, engineMember(engine)]
  for (const [n, target] of victims(targets, kills).entries()) {
    const before = load.ledger.size
    await target.kill()
    say(`${queue}: kill ${n + 1} of ${kills}: ${target.kind}, ${before} spans acknowledged so far`)
    await pause(random() * 1_500)
    await target.restart()
    await pause(500 + random() * 2_000)
  }
  await load.stop()
  say(`${queue}: load ended: ${JSON.stringify(load.counts)}`)
  const outcome = await verify(engine, queue, load.ledger, 30_000)
  for (const member of [...receivers, ...others]) await member.end()
  const peakMemory = Math.max(...[...receivers, ...others].map((member) => member.peakMemory()))
  say(`${queue}: ${JSON.stringify({ ...outcome, peakMemoryMb: Math.round(peakMemory / 1024 / 1024) })}`)
  return { ...outcome, kills, peakMemory }
}

/** Two collectors on one store; or two receivers and two ingesters around a broker. */
async function members(queue: 'direct' | 'kafka'): Promise<{ receivers: CollectorMember[]; others: Member[] }> {
  const store = {
    HOMEGROUND_FOLDER: folder,
    HOMEGROUND_CLICKHOUSE_DATABASE: queue,
    HOMEGROUND_MAX_BYTES_IN_FLIGHT: String(64 * 1024 * 1024),
  }
  const collector = async (kind: 'receiver' | 'ingester', n: number, settings: Record<string, string>) =>
    collectorMember(kind, await freePort(), { ...store, ...settings }, path.join(folder, `${queue}-${kind}-${n}.log`))
  if (queue === 'direct') return { receivers: await Promise.all([collector('receiver', 1, {}), collector('receiver', 2, {})]), others: [] }
  const broker = await startingBroker
  const settings = { HOMEGROUND_KAFKA_BROKERS: broker.address, HOMEGROUND_KAFKA_PARTITIONS: '6', HOMEGROUND_KAFKA_SESSION_SECONDS: '6' }
  const receiving = { ...settings, HOMEGROUND_ROLE: 'receive' }
  const ingesting = { ...settings, HOMEGROUND_ROLE: 'ingest' }
  const [receivers, ingesters] = await Promise.all([
    Promise.all([collector('receiver', 1, receiving), collector('receiver', 2, receiving)]),
    Promise.all([collector('ingester', 1, ingesting), collector('ingester', 2, ingesting)]),
  ])
  return { receivers, others: [...ingesters, broker] }
}

function engineMember(of: Engine): Member {
  return {
    kind: 'engine',
    kill: async () => {
      try {
        process.kill(of.address().pid, 'SIGKILL')
      } catch {
        // gone by itself
      }
    },
    restart: async () => {
      await of.revive()
    },
    end: async () => {},
    peakMemory: () => 0,
  }
}

/** Every kind in turn, in an order and of instances that chance chooses. */
function victims(targets: readonly Member[], count: number): Member[] {
  const byChance = <T>(list: readonly T[]): T[] =>
    list
      .map((one) => ({ one, at: random() }))
      .sort((one, other) => one.at - other.at)
      .map(({ one }) => one)
  const kinds = [...new Set(targets.map(({ kind }) => kind))]
  const rounds = Array.from({ length: Math.ceil(count / kinds.length) }, () => byChance(kinds)).flat()
  return rounds.slice(0, count).flatMap((kind) => byChance(targets.filter((target) => target.kind === kind)).slice(0, 1))
}

function say(text: string): void {
  process.stdout.write(`${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${text}\n`)
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
