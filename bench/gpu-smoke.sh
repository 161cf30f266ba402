#!/usr/bin/env bash
# Shows in under eight minutes that the trainer's CUDA path works on a machine with one GPU and no network: SFT, GRPO through a product's harness, and how fast both are.
# usage: bench/gpu-smoke.sh --model FOLDER (--wheels FOLDER | --python PYTHON) [--work FOLDER] [--device cuda|cpu]
#   --model   a model in Hugging Face layout whose chat template knows tools (or one of TRL's families), e.g. Qwen3-0.6B
#   --wheels  wheels of what tune/trainer/uv.lock says. On a machine with network:
#             uv export --project tune/trainer --frozen --no-dev --no-emit-project -o requirements.txt && pip download -r requirements.txt -d wheels
#   --python  an interpreter that has them already
#   --device  cpu tries the script itself, with a tiny model, where there is no GPU
# Needs Node 20.19 or newer and this repository with node_modules and dist (npm ci && npm run build before the network is gone). Last line: JSON.
set -Eeuo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
model='' wheels='' python='' work='' device=cuda
while [ $# -gt 0 ]; do
  case "$1" in
    --model) model=$(cd "$2" && pwd) ;;
    --wheels) wheels=$(cd "$2" && pwd) ;;
    --python) python=$(command -v "$2") || { echo "gpu-smoke: there is no $2" >&2; exit 2; } ;;
    --device) device=$2 ;;
    --work) work=$2 ;;
    *)
      echo "gpu-smoke: unknown option $1" >&2
      exit 2
      ;;
  esac
  shift 2
done
[ -n "$model" ] || { echo 'gpu-smoke: give --model FOLDER' >&2; exit 2; }
[ -n "$wheels$python" ] || { echo 'gpu-smoke: give --wheels FOLDER or --python PYTHON' >&2; exit 2; }
[ "$device" = cpu ] || command -v nvidia-smi >/dev/null || { echo 'gpu-smoke: nvidia-smi is not on the PATH: is there a GPU?' >&2; exit 2; }
[ -f "$root/dist/cli/main.js" ] || { echo 'gpu-smoke: dist/ is not built: npm ci && npm run build' >&2; exit 2; }

[ -n "$work" ] || work=$(mktemp -d /tmp/homeground-gpu-smoke-XXXXXX)
mkdir -p "$work"
work=$(cd "$work" && pwd)
crowd=''
stage='looking at the GPU'
trap '[ -z "$crowd" ] || kill "$crowd" 2>/dev/null || true' EXIT
trap 'echo "gpu-smoke: failed ($?; 124: it took too long) while $stage, after $SECONDS s" >&2' ERR
begin() {
  stage=$1
  echo "== $stage ($SECONDS s)"
}
export HF_HUB_OFFLINE=1 HF_HUB_DISABLE_TELEMETRY=1
[ "$device" = cpu ] || nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader

if [ -z "$python" ]; then
  begin 'installing Python from the wheels'
  python3 -m venv "$work/python"
  python="$work/python/bin/python"
  timeout 180 "$python" -m pip install --quiet --no-index --find-links "$wheels" torch transformers trl peft datasets accelerate
fi
export HOMEGROUND_PYTHON=$python
[ "$device" = cpu ] || "$python" -c 'import torch; assert torch.cuda.is_available(), f"torch {torch.__version__} (CUDA {torch.version.cuda}) finds no GPU"; print("torch", torch.__version__, torch.cuda.get_device_name())'
homeground() { node "$root/dist/cli/main.js" --json "$@"; }

begin 'making rows of what a crowd played'
PORT=0 node "$root/examples/wordle-mini/dist/offline/main.js" >"$work/crowd.log" &
crowd=$!
for _ in $(seq 100); do
  if grep -q 'http://' "$work/crowd.log"; then break; fi
  sleep 0.1
done
url=$(sed -n 's/.* at \(http:[^ ]*\).*/\1/p' "$work/crowd.log")
environment="$root/examples/wordle-mini/env"
timeout 60 node "$root/dist/cli/main.js" --json run "$environment" --arm crowd=crowd --url "$url" --split train --repeats 6 --concurrency 1 --out "$work/crowd" >/dev/null
homeground dataset "$work/crowd" --format trl-sft --out "$work/crowd.jsonl" >/dev/null

begin 'training with SFT: 30 steps, LoRA'
timeout 150 node "$root/dist/cli/main.js" --json tune sft --model "$model" --data "$work/crowd.jsonl" --output "$work/sft" \
  --set device="$device" optimizer.maxSteps=30 optimizer.batchSize=8 optimizer.perDeviceBatch=8 checkpoints.everySteps=1000 >/dev/null

begin 'training with GRPO: 8 steps of 32 rollouts through the harness'
timeout 200 node "$root/dist/cli/main.js" --json tune grpo --environment "$environment" --model "$model" --adapter "$work/sft/adapter" --output "$work/grpo" \
  --set device="$device" optimizer.maxSteps=8 optimizer.perDeviceBatch=16 optimizer.learningRate=5e-5 rollouts.tasksPerStep=4 rollouts.turnTokens=64 rollouts.rolloutTokens=1024 checkpoints.everySteps=1000 >/dev/null

node - "$work" "$SECONDS" <<'JS'
const fs = require('node:fs')
const [work, seconds] = process.argv.slice(2)
const events = (name) => fs.readFileSync(`${work}/${name}/metrics.jsonl`, 'utf8').trim().split('\n').map((line) => JSON.parse(line))
const sft = events('sft')
const grpo = events('grpo').filter(({ event }) => event === 'step')
const rows = sft.find(({ event }) => event === 'rows')
const end = sft.find(({ event }) => event === 'end')
const seen = (rows.tokens.total / rows.kept) * 8 * end.steps
const sum = (name) => grpo.reduce((total, step) => total + step[name], 0)
const result = {
  bench: 'gpu-smoke',
  sft: { loss: end.loss, tokensPerSecond: Math.round(seen / end.seconds) },
  grpo: {
    rewards: grpo.map(({ reward }) => reward),
    logprobGap: Math.max(...grpo.map(({ logprobGap }) => logprobGap.mean)),
    rolloutsPerSecond: Number((sum('rollouts') / sum('rolloutSeconds')).toFixed(2)),
  },
  seconds: Number(seconds),
  passed: end.loss.last < end.loss.first && grpo.length === 8 && grpo.every(({ errored }) => errored === 0) && Number(seconds) < 480,
}
console.log(JSON.stringify(result))
process.exitCode = result.passed ? 0 : 1
JS
