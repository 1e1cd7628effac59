#!/usr/bin/env bash
# Runs the real binary with the real NVRTC and the stand-in driver of the tests: `--nvrtc` must compile, load and run
# every kernel, for each GPU that the pinned NVRTC knows, and report its log where it refuses.
#
#   kernels/check_nvrtc.sh FOLDER_OF_LIBNVRTC      kernels/check.sh calls it, and builds the binary before
set -euo pipefail
nvrtc=$(realpath "$1")
cd "$(dirname "$0")/.."

built=${CARGO_TARGET_DIR:-target}/release
driver=$("$built/examples/library_dir")

# states LIBRARY_PATH COMPUTE_CAPABILITY: what `devices --nvrtc` says of every kernel, a line each.
states() {
    LD_LIBRARY_PATH=$1 STANDIN_COMPUTE_CAPABILITY=$2 "$built/magnetar" devices --nvrtc --json | python3 -c '
import json, sys
for name, state in json.load(sys.stdin)["gpus"][0]["kernels"].items():
    print(name + ":", " ".join(state.split()))'
}
# every LINES TEXT: all lines must hold the text.
every() {
    if [ -z "$1" ] || grep -vF "$2" <<<"$1" >&2; then
        echo "expected of every kernel: $2" >&2
        exit 1
    fi
}

for capability in 70 80 90; do
    every "$(states "$driver:$nvrtc" $capability)" ": loads"
done
# A GPU that this NVRTC does not know: the log must reach the user.
every "$(states "$driver:$nvrtc" 100)" "for compute_100: nvrtc: error: invalid value for --gpu-architecture"
LD_LIBRARY_PATH=$driver:$nvrtc "$built/magnetar" bench-gpu --nvrtc --rows 20 --posteriors 1 >/dev/null
echo "NVRTC: every kernel compiles for compute_70, compute_80 and compute_90, loads and runs on the stand-in driver"
