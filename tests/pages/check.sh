#!/usr/bin/env bash
# Opens every page in headless Chromium and uses it. Installs Chromium and Node.js (Debian's packages) and
# playwright-core (npm, pinned by package-lock.json) where they are missing.
set -euo pipefail
cd "$(dirname "$0")"

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
missing=()
command -v chromium >/dev/null || missing+=(chromium)
command -v node >/dev/null || missing+=(nodejs)
command -v npm >/dev/null || missing+=(npm)
if [ ${#missing[@]} -gt 0 ]; then
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
npm ci --no-audit --no-fund --silent
# The selection of `cargo test --release --workspace`, which has built all of it.
(cd ../.. && cargo build --quiet --release --workspace --bins --examples)
node --test --test-concurrency=1 *.test.mjs
