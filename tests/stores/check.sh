#!/usr/bin/env bash
# Datasets in an object store: the real program (with the feature `full`) against a real S3 server on loopback (moto, from
# PyPI), two writers at once, kill -9, and a line that fails at random.
#
#   tests/stores/check.sh             builds the program
#   tests/stores/check.sh PROGRAM     takes one that was built with the feature cloud
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ $# = 0 ]; then
  cargo build --release -p magnetar --features full
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "${1:-${CARGO_TARGET_DIR:-target}/release/magnetar}" "$work/magnetar"
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --requirement tests/stores/requirements.txt
"$work/venv/bin/python" tests/stores/check.py "$work/magnetar" "$work"
