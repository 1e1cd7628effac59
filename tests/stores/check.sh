#!/usr/bin/env bash
# Datasets in an object store: the real program (with the feature `full`) against a real S3 server on loopback (moto, from
# PyPI), two writers at once, kill -9, and a line that fails at random.
#
#   tests/stores/check.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
# Not the folder's own binary: what other steps run has the default features.
cargo build --release -p magnetar --features full --message-format short
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "${CARGO_TARGET_DIR:-target}/release/magnetar" "$work/magnetar"
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --requirement tests/stores/requirements.txt
"$work/venv/bin/python" tests/stores/check.py "$work/magnetar" "$work"
