#!/usr/bin/env bash
# The same rows on several processors: each must have the same bits natively, without AVX2, and on emulated processors from
# 2006 on. Rows of the recipe `paper`, of `field` (model errors, free boards, second order) and of third order with
# transmission. Some three minutes. Needs the release binary; installs qemu's user emulation from Debian's packages where it
# is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."

# What is made: samples (sets, in the fusion split) of each split, and the recipe. 200, 40 and 24 rows.
CORPORA=(
  "25 --recipe paper"
  "5 --recipe field"
  "3 --recipe paper --set propagation.max_order=3 --set propagation.transmission=true"
)
PROCESSORS=(core2duo Nehalem qemu64 Haswell max)

target=${CARGO_TARGET_DIR:-target}
magnetar=$target/release/magnetar
[ -x "$magnetar" ] || cargo build --release --quiet --bin magnetar

if ! command -v qemu-x86_64-static > /dev/null; then
  printf 'installing qemu-user-static\n'
  timeout 300 apt-get install -y -qq qemu-user-static > /dev/null ||
    { timeout 120 apt-get update -qq && timeout 300 apt-get install -y -qq qemu-user-static > /dev/null; }
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# generate NAME COMMAND...: the rows, made by COMMAND; leaves the hash of all shards in NAME.hash.
generate() {
  local name=$1 corpus
  shift
  for corpus in "${CORPORA[@]}"; do
    # shellcheck disable=SC2086 # a corpus is several words
    "$@" "$magnetar" generate --seed 7 --threads 1 --out "$folder/$name/${corpus// /_}" --limit $corpus \
      > "$folder/$name.log" 2>&1 || return 1
  done
  (cd "$folder/$name" && find . -name '*.parquet' | sort | xargs sha256sum | sha256sum | cut -d ' ' -f 1) \
    > "$folder/$name.hash"
}

names=()
# start NAME COMMAND...: generates beside others, as many at a time as there are processors.
start() {
  names+=("$1")
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
  generate "$@" &
}
start native env
start no-avx2 env MAGNETAR_VECTORS=baseline
# The C library's own choice by processor must not matter either.
start plain-libc env GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-FMA,-FMA_Usable,-FMA4,-AVX512F
for processor in "${PROCESSORS[@]}"; do
  start "$processor" qemu-x86_64-static -cpu "$processor"
done
wait

expected=$(cat "$folder/native.hash")
failed=0
for name in "${names[@]}"; do
  found=$(cat "$folder/$name.hash" 2> /dev/null || tail -3 "$folder/$name.log")
  printf '%-24s %s\n' "$name" "$found"
  if [ "$found" != "$expected" ]; then
    printf '%s gives other bits\n' "$name"
    failed=1
  fi
done
[ "$failed" = 0 ] && printf 'the same bits on all of them, in %s s\n' "$SECONDS"
