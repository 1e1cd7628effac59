#!/usr/bin/env bash
# Checks the committed PTX without a GPU: made again from the sources by the pinned NVRTC it must be the same, and the
# pinned assembler must accept it for Volta, Ampere and Hopper with no register spilled to memory. Then the same NVRTC is
# used as a user would (check_nvrtc.sh), and the roofline of docs/cuda.md must be what the kernels' counts say today.
#
#   kernels/check.sh           check
#   kernels/check.sh --write   make the PTX again and keep it, then check it
#
# Both tools come from PyPI into target/cuda-tools; no NVIDIA file is committed. Needs Rust, g++,
# python3 with pip, and x86-64.
set -euo pipefail
cd "$(dirname "$0")/.."

NVRTC=nvidia-cuda-nvrtc-cu12==12.0.76 # the oldest that makes PTX 8.0, which every driver since CUDA 12.0 loads
NVCC=nvidia-cuda-nvcc-cu12==12.9.86   # for its ptxas
tools=${CARGO_TARGET_DIR:-target}/cuda-tools
if [ ! -e "$tools/ready-$NVRTC-$NVCC" ]; then
    rm -rf "$tools"
    mkdir -p "$tools"
    python3 -m pip download --quiet --no-deps --dest "$tools/wheels" "$NVRTC" "$NVCC"
    for wheel in "$tools"/wheels/*.whl; do python3 -m zipfile -e "$wheel" "$tools"; done
    chmod +x "$tools/nvidia/cuda_nvcc/bin/ptxas"
    touch "$tools/ready-$NVRTC-$NVCC"
fi
library=$(echo "$tools"/nvidia/cuda_nvrtc/lib)
ptxas=$tools/nvidia/cuda_nvcc/bin/ptxas

made=kernels/ptx
if [ "${1:-}" != --write ]; then
    made=$tools/made
    mkdir -p "$made"
fi
for source in kernels/*.cu; do
    name=$(basename "$source" .cu)
    LD_LIBRARY_PATH=$library python3 kernels/make_ptx.py "$library/libnvrtc.so.12" "$source" "$made/$name.ptx"
    if ! cmp --silent "$made/$name.ptx" "kernels/ptx/$name.ptx"; then
        echo "kernels/ptx/$name.ptx is not what $source compiles to: run kernels/check.sh --write and commit it" >&2
        exit 1
    fi
    for architecture in sm_70 sm_80 sm_90; do
        report=$("$ptxas" --verbose --gpu-name "$architecture" --output-file "$tools/$name.$architecture.cubin" \
            "kernels/ptx/$name.ptx" 2>&1) || { echo "$report" >&2; exit 1; }
        if grep -E '[1-9][0-9]* bytes spill' <<<"$report" >&2; then
            echo "$name spills registers on $architecture" >&2
            exit 1
        fi
        grep -oE 'Used .*' <<<"$report" | sed "s/^/$name $architecture: /"
    done
done

# The selection of `cargo test --release --workspace`, which has built all of it.
cargo build --quiet --release --workspace --bins --examples
bash kernels/check_nvrtc.sh "$library"
"${CARGO_TARGET_DIR:-target}/release/examples/roofline" >"$tools/roofline.md"
if ! python3 -c 'import sys; sys.exit(open(sys.argv[1]).read() not in open("docs/cuda.md").read())' "$tools/roofline.md"
then
    echo "the roofline of docs/cuda.md is not this one:" >&2
    cat "$tools/roofline.md" >&2
    exit 1
fi
