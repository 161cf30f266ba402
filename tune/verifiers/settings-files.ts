// The text files of a verifiers package: how it is installed, what it is, and settings for prime-rl to start from.

export interface PackageAbout {
  /** Of the taskset and the distribution: homeground-desk. */
  taskset: string
  /** Of the Python module: homeground_desk. */
  module: string
  environment: { name: string; hash: string; folder: string }
  split: string
  tasks: number
  episodes: number
}

export function pyproject({ taskset, module, environment }: PackageAbout): string {
  return `[project]
name = "${taskset}"
version = "0.1.0"
description = ${tomlText(`The Homeground environment ${environment.name} for verifiers.`)}
requires-python = ">=3.11"
dependencies = ["verifiers>=0.4,<0.5"]

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
packages = ["${module}"]
`
}

/** For prime-rl's `rl` entry point; model and sizes are the reader's to choose. */
export function primeRl({ taskset, environment }: PackageAbout): string {
  return `# prime-rl with the Homeground environment ${environment.name}: \`uv run rl @ prime-rl.toml\`, after this package was installed beside prime-rl.
# Each rollout is played by \`homeground run\` on the orchestrator's machine; Node and the environment's folder have to be there.

max_steps = 100
seq_len = 4096

[deployment]
num_train_gpus = 1
num_infer_gpus = 1

[model]
name = "Qwen/Qwen3-4B-Instruct-2507"

[trainer.optim]
lr = 1e-5

[trainer.model.lora]
rank = 16

[orchestrator]
batch_size = 64
group_size = 8

[orchestrator.train.sampling]
max_completion_tokens = 512

[[orchestrator.train.source]]
name = ${tomlText(environment.name)}
env.taskset.id = "${taskset}"
env.agent.runtime.type = "subprocess"

[inference.model]
tool_call_parser = "hermes"
`
}

export function readme(about: PackageAbout): string {
  const { taskset, module, environment, split, tasks, episodes } = about
  const played =
    episodes === 0
      ? ''
      : `| \`traces.jsonl\` | ${episodes} episodes as verifiers records them, an episode a line |
| \`openai.jsonl\` | the same episodes as a file to upload for fine-tuning (OpenAI, Together); \`openai.report.json\` says what was dropped |
`
  return `# ${taskset}

The Homeground environment \`${environment.name}\` (${environment.hash.slice(0, 12)}) for [verifiers](https://github.com/PrimeIntellect-ai/verifiers): ${tasks} tasks of the split \`${split}\`. A rollout is played by \`homeground run\` with the product's own code and scored by the environment's rubric; verifiers serves the model in between and records it.

| file | what it is |
| --- | --- |
| \`${module}/\` | Taskset and Harness; \`environment.json\` names the environment's folder and the Homeground that plays it |
${played}| \`prime-rl.toml\` | settings for prime-rl to start from |

\`\`\`sh
uv pip install -e .
vf-eval ${taskset} -n 4 -r 2 --env.agent.runtime.type subprocess --client.base-url URL --model NAME --no-push
\`\`\`

Moved? \`--env.agent.harness.environment FOLDER\` and \`--env.agent.harness.command '["npx", "homeground"]'\`. A rollout that could not be scored is an error there, never 0.
`
}

/** TOML's basic strings take every escape that JSON writes. */
function tomlText(text: string): string {
  return JSON.stringify(text)
}
