#!/usr/bin/env bash
# The same rows on several processors: each row of the recipe `paper` must have the same bits natively, without AVX2, and
# on emulated processors from 2006 on. About two minutes. Needs the release binary; installs qemu's user emulation from
# Debian's packages where it is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Samples (sets, in the fusion split) of each split: 200 rows in all.
LIMIT=25
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
# generate NAME COMMAND...: the rows, made by COMMAND; prints the hash of all shards.
generate() {
  local name=$1
  shift
  "$@" "$magnetar" generate --recipe paper --seed 7 --limit "$LIMIT" --threads 1 --out "$folder/$name" \
    > "$folder/log" 2>&1 || { cat "$folder/log" >&2; return 1; }
  (cd "$folder/$name" && find . -name '*.parquet' | sort | xargs sha256sum | sha256sum | cut -d ' ' -f 1)
}

expected=$(generate native env)
printf '%-24s %s\n' native "$expected"
failed=0
compare() {
  local found
  found=$(generate "$@")
  printf '%-24s %s\n' "$1" "$found"
  if [ "$found" != "$expected" ]; then
    printf '%s gives other bits\n' "$1"
    failed=1
  fi
}
compare no-avx2 env MAGNETAR_VECTORS=baseline
# The C library's own choice by processor must not matter either.
compare plain-libc env GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-FMA,-FMA_Usable,-FMA4,-AVX512F
for processor in "${PROCESSORS[@]}"; do
  compare "$processor" qemu-x86_64-static -cpu "$processor"
done
[ "$failed" = 0 ] && printf 'the same bits on all of them, in %s s\n' "$SECONDS"
