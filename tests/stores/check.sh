#!/usr/bin/env bash
# Datasets in an object store: the real program (with the feature `full`) against a real S3 server (moto, from PyPI) and
# Azure's emulator (Azurite, from npm) on loopback: writers at once, kill -9, and a line that fails at random. Installs Node.js
# (Debian's package) where it is missing.
#
#   tests/stores/check.sh             builds the program
#   tests/stores/check.sh PROGRAM     takes one that was built with the feature cloud
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ $# = 0 ]; then
  cargo build --release -p magnetar --features full
fi
work=$(mktemp -d)
trap 'kill ${npm:-} 2>/dev/null || true; rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
cp "${1:-${CARGO_TARGET_DIR:-target}/release/magnetar}" "$work/magnetar"

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
if ! command -v npm >/dev/null; then
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nodejs npm >/dev/null
fi
# While the S3 checks run.
npm install --prefix "$work/node" --no-audit --no-fund --silent azurite@3.35.0 >"$work/npm.log" 2>&1 &
npm=$!
bash python/environment.sh "$work/venv" --requirement tests/stores/requirements.txt
"$work/venv/bin/python" tests/stores/check.py "$work/magnetar" "$work"
wait "$npm" || { cat "$work/npm.log" >&2; exit 1; }
"$work/venv/bin/python" tests/stores/check_azure.py "$work/magnetar" "$work" "$work/node/node_modules/.bin/azurite-blob"
"$work/venv/bin/python" tests/stores/check_google.py "$work/magnetar" "$work"
