// model.json and the model card: what a model was made from, so that anybody can say why it is what it is, and make it again.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { parseInput, readJsonFile, readTextLines } from '@homeground/sdk/trace'
import { z } from 'zod'
import type { TrainingEnd } from './events.ts'
import { modelCard } from './model-card.ts'
import type { TrainSettings } from './train.ts'

const hashed = z.strictObject({ path: z.string(), sha256: z.string() })

export const modelFileSchema = z.strictObject({
  format: z.literal(1),
  name: z.string(),
  /** `adapter` needs its base beside it; `model` stands alone. */
  kind: z.enum(['adapter', 'model']),
  /** Relative to model.json. */
  path: z.string(),
  recipe: z.string(),
  base: hashed,
  /** The adapter that training went on from. */
  from: hashed.exactOptional(),
  data: z.array(z.strictObject({ ...hashed.shape, rows: z.int() })),
  /** Environments that rows or rollouts came from, as far as their reports say. */
  environments: z.array(z.strictObject({ name: z.string(), hash: z.string() })),
  settings: z.strictObject({ path: z.string(), sha256: z.string() }),
  seed: z.int(),
  versions: z.record(z.string(), z.string()),
  trainedAt: z.string(),
  metrics: z.strictObject({
    steps: z.number(),
    seconds: z.number(),
    trainable: z.number(),
    loss: z.strictObject({ first: z.number().nullable(), last: z.number().nullable() }),
    validationLoss: z.array(z.number().nullable()),
    /** Of `grpo`: mean of the first and the last step. */
    reward: z.strictObject({ first: z.number().nullable(), last: z.number().nullable() }).exactOptional(),
  }),
  /** Promotion records of `homeground gate`, newest last. */
  gates: z.array(z.strictObject({ at: z.string(), verdict: z.string(), promoted: z.boolean(), record: z.string() })),
})
export type ModelFile = z.infer<typeof modelFileSchema>

/** Reads FOLDER/model.json. @throws HomegroundError invalid-input */
export function readModelFile(folder: string): ModelFile {
  const file = path.join(folder, 'model.json')
  return parseInput(modelFileSchema, readJsonFile(file, { broken: 'the same `homeground tune` command writes it anew' }), {
    place: file,
    what: 'a model file (format 1)',
  })
}

/** Writes model.json and README.md into the output folder; a finished run that is asked for again keeps its gates. */
export async function writeLineage(run: {
  output: string
  settings: TrainSettings
  end: TrainingEnd
  environments: readonly { name: string; hash: string }[]
  homeground: string
  now: () => Date
}): Promise<ModelFile> {
  const { settings, end, output } = run
  const before = fs.existsSync(path.join(output, 'model.json')) ? readModelFile(output) : undefined
  const adapter = settings.model['adapter']
  const file: ModelFile = {
    format: 1,
    name: path.basename(output),
    kind: end.kind,
    path: end.path,
    recipe: end.recipe,
    base: { path: settings.model.base, sha256: hashModel(settings.model.base) },
    ...(typeof adapter === 'string' ? { from: { path: adapter, sha256: hashModel(adapter) } } : {}),
    data: await Promise.all(settings.data.train.map(dataOf)),
    environments: environmentsOf(settings, run.environments),
    settings: { path: 'settings.json', sha256: createHash('sha256').update(JSON.stringify(settings)).digest('hex') },
    seed: end.seed,
    versions: { homeground: run.homeground, node: process.versions.node, ...end.versions },
    trainedAt: before?.trainedAt ?? run.now().toISOString(),
    metrics: {
      steps: end.steps,
      seconds: end.seconds,
      trainable: end.trainable,
      loss: { first: end.loss.first, last: end.loss.last },
      validationLoss: end.validationLoss,
      ...(end.reward === undefined ? {} : { reward: { first: end.reward.first, last: end.reward.last } }),
    },
    gates: before?.gates ?? [],
  }
  writeModelFile(output, file)
  return file
}

/** Both files at once: the card is the lineage for people. */
export function writeModelFile(folder: string, file: ModelFile): void {
  fs.writeFileSync(path.join(folder, 'model.json.next'), `${JSON.stringify(file, null, 2)}\n`)
  fs.renameSync(path.join(folder, 'model.json.next'), path.join(folder, 'model.json'))
  fs.writeFileSync(path.join(folder, 'README.md'), modelCard(file))
}

/** Over names and contents of the folder's files; of a hub's model over its name. Files above 2 GiB count by size and first MiB, which holds their tensors' names. */
export function hashModel(folder: string): string {
  const hash = createHash('sha256')
  if (!fs.existsSync(folder)) return hash.update(folder).digest('hex')
  for (const name of fs.readdirSync(folder).sort()) {
    const file = path.join(folder, name)
    const { size } = fs.statSync(file)
    if (!fs.statSync(file).isFile() || name === 'README.md') continue
    hash.update(`${name}\0${size}\0`)
    const opened = fs.openSync(file, 'r')
    const piece = Buffer.alloc(2 ** 20)
    const until = size > 2 ** 31 ? piece.length : size
    for (let at = 0; at < until; at += piece.length) hash.update(piece.subarray(0, fs.readSync(opened, piece, 0, piece.length, at)))
    fs.closeSync(opened)
  }
  return hash.digest('hex')
}

/** Hashed as it lies there, its rows counted as they are trained: unpacked. */
async function dataOf(file: string): Promise<ModelFile['data'][number]> {
  const hash = createHash('sha256')
  for await (const piece of fs.createReadStream(file)) hash.update(piece)
  let rows = 0
  for await (const { text } of readTextLines(file)) if (text.trim() !== '') rows += 1
  return { path: file, sha256: hash.digest('hex'), rows }
}

/** `dataset` writes ROWS.report.json beside its rows; it names the environments and runs that they came from, as far as they are still there. */
function environmentsOf(settings: TrainSettings, played: readonly { name: string; hash: string }[]): { name: string; hash: string }[] {
  const found = new Map(played.map((environment) => [environment.hash, environment]))
  for (const file of settings.data.train) {
    const report = readIfThere(`${file.replace(/\.jsonl(\.gz)?$/, '')}.report.json`)
    for (const folder of reportSchema.safeParse(report).data?.from ?? []) {
      const environment =
        environmentSchema.safeParse(readIfThere(path.join(folder, 'env.json'))).data ??
        runSchema.safeParse(readIfThere(path.join(folder, 'run.json'))).data?.environment
      if (environment !== undefined) found.set(environment.hash, environment)
    }
  }
  return [...found.values()]
}

function readIfThere(file: string): unknown {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

const reportSchema = z.looseObject({ from: z.array(z.string()) })
const environmentSchema = z.object({ name: z.string(), hash: z.string() })
const runSchema = z.looseObject({ environment: environmentSchema })
