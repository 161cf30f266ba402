// The model card: model.json as a page for people, in Hugging Face's layout so that hubs and tools read its head.
import type { ModelFile } from './lineage.ts'

/** Markdown. */
export function modelCard(file: ModelFile): string {
  const losses = [file.metrics.loss.first, file.metrics.loss.last].map((loss) => (loss === null ? '?' : loss.toFixed(4)))
  const validation = file.metrics.validationLoss.map((loss) => (loss === null ? '?' : loss.toFixed(4)))
  const { reward } = file.metrics
  const rewards = reward === undefined ? '' : `; reward ${reward.first?.toFixed(3) ?? '?'} → ${reward.last?.toFixed(3) ?? '?'}`
  const lines = [
    '---',
    `base_model: ${file.base.path}`,
    ...(file.kind === 'adapter' ? ['library_name: peft'] : ['library_name: transformers']),
    `tags: [homeground, ${file.recipe}]`,
    '---',
    `# ${file.name}`,
    '',
    `${file.kind === 'adapter' ? 'An adapter (LoRA) for' : 'A model trained from'} \`${file.base.path}\`, made by \`homeground tune ${file.recipe}\` on ${file.trainedAt.slice(0, 10)}.`,
    '',
    '## Made from',
    '',
    `- base: \`${file.base.path}\` (${short(file.base.sha256)})`,
    ...(file.from === undefined ? [] : [`- adapter gone on from: \`${file.from.path}\` (${short(file.from.sha256)})`]),
    ...file.data.map((each) => `- rows: \`${each.path}\`, ${each.rows} rows (${short(each.sha256)})`),
    ...file.environments.map((each) => `- environment: ${each.name} (${short(each.hash)})`),
    `- settings: \`settings.json\` (${short(file.settings.sha256)}), seed ${file.seed}`,
    `- versions: ${Object.entries(file.versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}`,
    '',
    '## Training',
    '',
    `${file.metrics.steps} steps in ${file.metrics.seconds} s, ${file.metrics.trainable.toLocaleString('en')} trained parameters; loss ${losses.join(' → ')}${
      validation.length === 0 ? '' : `, on held-out rows ${validation.join(' → ')}`
    }${rewards}. Every step is in \`metrics.jsonl\`.`,
    '',
    '## Gates',
    '',
    ...(file.gates.length === 0
      ? ['None yet: `homeground gate` says whether it may go live.']
      : file.gates.map((gate) => `- ${gate.at}: ${gate.verdict}, ${gate.promoted ? 'promoted' : 'not promoted'} (\`${gate.record}\`)`)),
    '',
    '## Use',
    '',
    '`homeground serve` for a trial on this machine; in production any OpenAI-compatible server, e.g. vLLM' +
      (file.kind === 'adapter' ? ` with \`--enable-lora --lora-modules ${file.name}=${file.path}\`.` : '.'),
    '',
  ]
  return lines.join('\n')
}

function short(hash: string): string {
  return hash.slice(0, 12)
}
