#!/usr/bin/env bash
# Makes the trainer's Python environment in this clone (about 6 GB, a minute), so that the tests that need torch and TRL run instead of being skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
node scripts/setup.mjs
node dist/cli/main.js tune setup --with dev --with smollm2 --with interop
